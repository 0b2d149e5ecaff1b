/* SPDX-License-Identifier: MIT */
/* Names are sorted by byte, however many there are, equal ones among them. */
#include <string.h>

#include "check.h"
#include "shared/files.h"

enum { MOST = 300 };

int main(void)
{
	static char texts[MOST][4];
	static const char *names[MOST];
	unsigned dice = 22;

	for (size_t n = 0; n <= MOST; n++) {
		unsigned sum = 0, sorted_sum = 0;

		for (size_t i = 0; i < n; i++) {
			dice = dice * 1103515245 + 12345;
			texts[i][0] = (char)('a' + (dice >> 16) % 5);
			texts[i][1] = (char)(dice >> 20 & 0x7f ? dice >> 20 & 0x7f : 1);
			names[i] = texts[i];
			sum += (unsigned char)texts[i][0] * 256u + (unsigned char)texts[i][1];
		}
		names_sort(names, n);
		for (size_t i = 0; i < n; i++) {
			CHECK(i == 0 || strcmp(names[i - 1], names[i]) <= 0);
			sorted_sum += (unsigned char)names[i][0] * 256u + (unsigned char)names[i][1];
		}
		CHECK(sum == sorted_sum);
	}
	puts("test_files: ok");
	return 0;
}
