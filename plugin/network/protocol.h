/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the plugin and bootlab's network peer (bootlab/network/plugin_side.py) say to each other, on a socket that keeps
 * messages apart (SOCK_SEQPACKET). The plugin asks, and waits for the answer while the guest stands still; so whatever the
 * host does, the answer is at one time of the virtual clock.
 *
 * Asked, as a line of words, T_NS in decimal:
 *
 *   hello 1              the protocol's version, before the guest's first instruction
 *   sent T_NS            the guest may have put frames on its wire
 *   mark T_NS NAME       a mark was reached
 *   wake T_NS            a time has come that the peer asked for
 *
 * Answered, any number of these, each a message of its own; integers have eight bytes, the lowest first:
 *
 *   F T_NS FRAME...      give this frame to the guest's card at T_NS, or now if that is over
 *   W T_NS               wake the peer at T_NS
 *   M NAME               a mark of this name is reached now
 *
 * and at last `.`: the guest may go on. Anything else, or nothing for NETWORK_PATIENCE_S, ends the peer's part in this boot.
 */
#ifndef BOOTLAB_NETWORK_PROTOCOL_H
#define BOOTLAB_NETWORK_PROTOCOL_H

#define NETWORK_VERSION 1
/* A frame of Ethernet with a VLAN tag, and room for jumbo frames. */
#define NETWORK_FRAME_MAX 9216
/* Of the host's time. A peer that is only slow is waited for: the guest does not notice. */
#define NETWORK_PATIENCE_S 60

#endif
