"""Output folders of Buildroot, Yocto and others: whose one is, what is in it, and the system that it is."""
