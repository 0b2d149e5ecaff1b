"""`bootlab snapshot`, and what `bootlab boot --from` needs: a machine kept at a mark, restored once or many times"""
