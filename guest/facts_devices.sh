#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# bootlab-facts of an image that is asked for its devices too (coldplug.record): all facts, then those of bootlab-coldplug.
"$0.plain"
exec /sbin/bootlab-coldplug --devices
