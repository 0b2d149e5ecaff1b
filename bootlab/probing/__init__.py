"""What a machine answers to who asks it over a network, and when: links, pings, TCP ports, banners, HTTP."""
