#include <assert.h>
#include "calc.h"

int main(void)
{
	assert(add(1, 2) == 3);
	if (add(0, 0)) {
		return 1;
	}
	return 0;
}
