"""Units that behave well and badly, for bootlab-init to live with; units/worker.c is what they run."""

BEHAVIOURS = {
    "good": "exec /bin/worker stay\n",
    "tells": "exec /bin/worker barrier\nready notify\ntimeout 2s\nrestart always\nrestart-delay 10ms\n",
    "line": "exec /bin/worker fd 7\nready fd 7\ntimeout 2s\nneeds good\n",
    "wild": "exec /bin/worker children\nstop-timeout 500ms\n",
    "deaf": "exec /bin/worker deaf\nstop-timeout 200ms\n",
    "closes": "exec /bin/worker close 5\nready fd 5\n",
    "garbage": "exec /bin/worker garbage\nready notify\ntimeout 500ms\n",
    "flood": "exec /bin/worker flood\n",
    "dies": "exec /bin/worker exit 1\nrestart always\nrestart-delay 1ms\n",
    "listens": "exec /bin/worker stay\nrestart always\nlisten unix /run/listens/socket\n",
    "wakes": "exec /bin/worker serve 1\non-demand yes\nrestart always\nlisten unix /run/wakes/socket\n",
    "once": "exec /bin/worker exit 0\nready exit\nrun-folder once\n",
}
