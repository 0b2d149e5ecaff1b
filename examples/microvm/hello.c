/* The smallest init that shows a sign of life: it says so on the console and ends, which ends the machine. */
#include <stdio.h>

int main(void)
{
	printf("Hello!\n");
	return 4;
}
