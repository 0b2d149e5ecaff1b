/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of QEMU's TCG plugin interface that we use, versions 4 (QEMU 9.2) to 7 (QEMU 11.1).
 *
 * Declared here because Debian's QEMU packages carry no qemu-plugin.h, and QEMU's sources are a large download for a
 * dozen lines. Names, types and values are QEMU's; anything we do not call is left out. QEMU checks the version number
 * when it loads us and refuses a plugin it does not serve; plugin.c says which one it is.
 *
 * What changed of what we use: from 6 on qemu_plugin_read_register() returns a bool and no length, so nobody here looks
 * at it, and a register's description has one member more, so their distance is asked for; from 7 on a callback for the whole plugin gets its user's pointer last, and no longer the plugin's id first.
 * Such callbacks are registered as a qemu_plugin_any_cb_t, with a pointer that older versions do not look at.
 *
 * GArray and GByteArray are GLib's. Their first two members are public and part of its ABI; the functions come from
 * the GLib that QEMU itself is linked to, so no GLib headers are needed either.
 */
#ifndef BOOTLAB_QEMU_PLUGIN_API_H
#define BOOTLAB_QEMU_PLUGIN_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))

enum {
	QEMU_PLUGIN_FIRST_VERSION = 4,
	QEMU_PLUGIN_IO_URING_VERSION = 5, /* the QEMU that has it: 10.2 */
	QEMU_PLUGIN_USERDATA_VERSION = 7,
	QEMU_PLUGIN_LAST_VERSION = 7,
};

typedef uint64_t qemu_plugin_id_t;

typedef struct qemu_info_t {
	const char *target_name;
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus;
		int max_vcpus;
	} system;
} qemu_info_t;

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_register;

/* The first members: the array of them says how long each is. */
typedef struct {
	struct qemu_plugin_register *handle;
	const char *name;
	const char *feature;
} qemu_plugin_reg_descriptor;

enum qemu_plugin_cb_flags {
	QEMU_PLUGIN_CB_NO_REGS,
	QEMU_PLUGIN_CB_R_REGS,
	QEMU_PLUGIN_CB_RW_REGS,
};

enum qemu_plugin_op {
	QEMU_PLUGIN_INLINE_ADD_U64,
	QEMU_PLUGIN_INLINE_STORE_U64,
};

enum qemu_plugin_cond {
	QEMU_PLUGIN_COND_NEVER,
	QEMU_PLUGIN_COND_ALWAYS,
	QEMU_PLUGIN_COND_EQ,
	QEMU_PLUGIN_COND_NE,
};

enum qemu_plugin_mem_rw {
	QEMU_PLUGIN_MEM_R = 1,
	QEMU_PLUGIN_MEM_W,
	QEMU_PLUGIN_MEM_RW,
};

/* What a memory access was; only QEMU's functions read it. */
typedef uint32_t qemu_plugin_meminfo_t;

struct qemu_plugin_hwaddr;
struct qemu_plugin_scoreboard;

typedef struct {
	struct qemu_plugin_scoreboard *score;
	size_t offset;
} qemu_plugin_u64;

typedef struct {
	char *data;
	unsigned int len;
} GArray;

typedef struct {
	uint8_t *data;
	unsigned int len;
} GByteArray;

unsigned int g_array_get_element_size(GArray *array);
char *g_array_free(GArray *array, int free_segment);
GByteArray *g_byte_array_new(void);
GByteArray *g_byte_array_set_size(GByteArray *array, unsigned int length);
/* The loop of a context, NULL for the default one, looks again at what there is to do. From any thread. */
void g_main_context_wakeup(void *context);
uint8_t *g_byte_array_free(GByteArray *array, int free_segment);

typedef void (*qemu_plugin_any_cb_t)(void);
typedef void (*qemu_plugin_vcpu_udata_cb_t)(unsigned int vcpu_index, void *userdata);
typedef void (*qemu_plugin_vcpu_mem_cb_t)(unsigned int vcpu_index, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata);

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_plugin_any_cb_t cb, void *userdata);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_any_cb_t cb, void *userdata);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_plugin_vcpu_udata_cb_t cb,
					  enum qemu_plugin_cb_flags flags, void *userdata);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_udata_cb_t cb,
					    enum qemu_plugin_cb_flags flags, void *userdata);
void qemu_plugin_register_vcpu_tb_exec_cond_cb(struct qemu_plugin_tb *tb, qemu_plugin_vcpu_udata_cb_t cb,
					       enum qemu_plugin_cb_flags flags, enum qemu_plugin_cond cond,
					       qemu_plugin_u64 entry, uint64_t imm, void *userdata);
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *insn, enum qemu_plugin_op op,
							 qemu_plugin_u64 entry, uint64_t imm);
/* After each access of the instruction. */
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_mem_cb_t cb,
				      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw, void *userdata);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_any_cb_t cb, void *userdata);

struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t element_size);
void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *score, unsigned int vcpu_index);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t idx);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *dest, size_t len);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);

bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
/* log2 of the access's bytes. */
unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
/* Where an access went, only in the callback behind it. The name is of QEMU's memory region, and stays. */
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info, uint64_t vaddr);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *haddr);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *haddr);
const char *qemu_plugin_hwaddr_device_name(const struct qemu_plugin_hwaddr *haddr);

GArray *qemu_plugin_get_registers(void);
/* Appends to `buf`, nothing if there is no such register. */
void qemu_plugin_read_register(struct qemu_plugin_register *handle, GByteArray *buf);
/* Into QEMU's log, under -d plugin. */
void qemu_plugin_outs(const char *string);
bool qemu_plugin_read_memory_vaddr(uint64_t addr, GByteArray *data, size_t len);

#endif
