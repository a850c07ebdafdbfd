"""The architectures that Nova knows (nova/objects/fields.py, ``Architecture``)."""

_NAMES = (
    "alpha armv6 armv7l armv7b aarch64 cris i686 ia64 lm32 m68k microblaze "
    "microblazeel mips mipsel mips64 mips64el openrisc parisc parisc64 ppc ppcle "
    "ppc64 ppc64le ppcemb s390 s390x sh4 sh4eb sparc sparc64 unicore32 x86_64 xtensa "
    "xtensaeb"
)
NAMES = tuple(_NAMES.split())
