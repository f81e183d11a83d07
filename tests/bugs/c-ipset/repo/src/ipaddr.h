#ifndef IPADDR_H
#define IPADDR_H

#include <stdint.h>

#define IPADDR_TEXT 16

/* "10.0.0.1"; returns what follows it, NULL when it is no address. */
const char *ipaddr_read(const char *text, uint32_t *ret);
void ipaddr_write(uint32_t address, char out[IPADDR_TEXT]);

/* "A", "A-B" or "A/BITS"; 0 or -1 */
int iprange_parse(const char *text, uint32_t *ret_lo, uint32_t *ret_hi);

#endif
