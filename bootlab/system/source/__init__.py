"""What a system has built from source: kernels, bootloaders, firmware and programs, and where a source comes from."""
