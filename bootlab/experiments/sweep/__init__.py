"""One system with more and more of something: what each vCPU and each GiB costs."""
