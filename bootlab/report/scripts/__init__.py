"""What a page carries besides its text: scripts, styles and the frame around them."""
