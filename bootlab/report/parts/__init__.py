"""What every page and terminal view is made of: figures, tables, charts, markup, and the page's shell."""
