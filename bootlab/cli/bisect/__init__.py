"""`bootlab bisect`: which commit, or which version of a package, changed what a boot takes."""
