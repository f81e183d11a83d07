/*
 * image.h - what an image is, for the error that says it can't be read. Pure.
 */
#ifndef WORKER_AGENT_IMAGE_H
#define WORKER_AGENT_IMAGE_H

#include "common/compat.h"

/* "PNG image, 9000x100 pixels" into dst; false: none of PNG, GIF, JPEG, WebP,
 * BMP. Sizes that can't be read are left out. */
bool image_describe(const char *s, size_t len, char *dst, size_t size);

#endif
