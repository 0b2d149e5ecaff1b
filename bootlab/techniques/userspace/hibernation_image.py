"""How large an image of the memory is: what of it is read again, or swapped in, behind the wake."""

from bootlab.techniques.changes.before_sleep import before_hibernation, memory_shrinks, page_cache_grows
from bootlab.techniques.model.published import none_published
from bootlab.techniques.model.technique import Risk, Technique, Text

TECHNIQUES = (
    Technique(
        name="userspace_image_smallest",
        text=Text(
            summary="has the kernel make its hibernation image as small as it can",
            mechanism=(
                "An image is read and unpacked whole before anything of it runs. With image_size = 0 the kernel first "
                "reclaims what it can (shrink_all_memory(): pages of programs that lie on a disk, and the memory of "
                "processes, which it swaps out), so a wake waits for the rest alone; what is used behind it is read "
                "and swapped in page by page, and what nobody uses is never read."
            ),
            cost=(
                "what was reclaimed is missing behind the wake: each first use of it waits for the disk, for the "
                "system's other work as well, which no mark times; falling asleep takes longer; the swap area holds "
                "what is swapped out beside the image"
            ),
            risk=Risk.FUNCTION,
            published=(none_published("Linux 6.12, Documentation/admin-guide/pm/sleep-states.rst: image_size"),),
        ),
        change=before_hibernation("image-smallest", "write /sys/power/image_size 0"),
        proof=memory_shrinks(),
    ),
    Technique(
        name="userspace_image_caches",
        text=Text(
            summary="leaves the page cache in the hibernation image",
            mechanism=(
                "bootlab-sleep otherwise drops it before the image is made, but for what programs have mapped. With it "
                "files are there behind the wake that would be read again, in one long read with the image in the "
                "place of many short ones."
            ),
            cost="the image is larger by all of it, that which nobody reads again, too: a wake waits for more",
            risk=Risk.NONE,
            published=(none_published("Linux 6.12, Documentation/admin-guide/sysctl/vm.rst: drop_caches"),),
        ),
        change=before_hibernation("image-caches", "keep caches"),
        proof=page_cache_grows(),
    ),
)
