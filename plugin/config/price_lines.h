/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the lines of the config that say what a host of KVM would take for its guest, and what it shows it: `price`, `touch`, `kvm`. */
#ifndef BOOTLAB_PRICE_LINES_H
#define BOOTLAB_PRICE_LINES_H

#include "config.h"
#include "line.h"

int price_line_read(struct line *line, struct config *config);
int kvm_line_read(struct line *line, struct config *config);
int touch_line_read(struct line *line, struct config *config);

#endif
