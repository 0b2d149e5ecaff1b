"""Functions under conditionals, in text laid out as the kernel's is."""

from bootlab.build.kernel.ifdefs import GuardedCode, guarded_code

SOURCE = r"""
#ifdef CONFIG_SMP
static int cpu_up(unsigned int cpu)
{
#ifdef CONFIG_HOTPLUG
	inner_call(cpu);
#endif
	return 0;
}
#else
static inline void no_cpus(void) { }
#endif

int always(void)
{
}

#if defined(CONFIG_PCI) && \
	!defined(CONFIG_ACPI)
static void __init scan(struct bus *bus,
			int depth)
{
}
#elif IS_ENABLED(CONFIG_OF)
void of_scan(void) {
}
#endif

#if defined(CONFIG_A) || defined(CONFIG_B)
void either(void)
{
}
#endif

#ifdef CONFIG_FUTEX
SYSCALL_DEFINE6(futex, u32 __user *, uaddr, int, op)
{
}
int declared(void);
#endif

#ifdef CONFIG_X
void twice(void)
{
}
#endif
#ifdef CONFIG_Y
void twice(void)
{
}
#endif
"""


def test_guarded_functions() -> None:
    found = guarded_code(SOURCE).functions
    assert found.pop("__x64_sys_futex") == {"FUTEX"}
    assert found.pop("__do_sys_futex") == {"FUTEX"}
    syscalls = {name for name in found if name.endswith("sys_futex")}
    assert {name: set(guards) for name, guards in found.items() if name not in syscalls} == {
        "cpu_up": {"SMP"},
        "no_cpus": {"!SMP"},
        "scan": {"PCI", "!ACPI"},
        "of_scan": {"OF"},
    }


def test_text_without_conditionals() -> None:
    assert guarded_code("int main(void)\n{\n}\n") == GuardedCode({}, {})
    assert guarded_code("#endif\n#else\n#elif CONFIG_X\n") == GuardedCode({}, {})


def test_guarded_calls() -> None:
    source = """
int announce(struct thing *one)
{
#ifdef CONFIG_HELPER
	if (helper_exec(one))
		both(one);
#else
	without(one);
#endif
	both(one);
	return always(one);
}
#ifdef CONFIG_SMP
static void balance(int cpu)
{
	plain(cpu);
#if defined(CONFIG_NUMA) && !defined(CONFIG_TINY)
	nodes(cpu);
#endif
}
#endif
"""
    assert guarded_code(source).calls == {
        ("announce", "helper_exec"): {"HELPER"},
        ("announce", "without"): {"!HELPER"},
        ("balance", "nodes"): {"NUMA", "!TINY"},
    }
