"""What is booted: kernels, roots, boards, guest programs, and the cache that keeps what took long to make."""
