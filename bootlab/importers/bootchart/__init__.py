"""What the bootcharts recorded of a boot: processes, CPU and disks."""
