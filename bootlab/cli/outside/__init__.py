"""`bootlab probe` and `bootlab ec2`: machines that are asked over a network, and rented ones."""
