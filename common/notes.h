/*
 * notes.h - heads of what the person's hooks add to the result of a tool, each
 * behind an empty line and in brackets. A worker writes them; the built-in
 * model, which reads results as they are, takes them off.
 */
#ifndef COMMON_NOTES_H
#define COMMON_NOTES_H

#define NOTE_OBJECTION "a hook of the person objects"
#define NOTE_CONTEXT "from a hook of the person"
#define NOTE_UNHOOKED "the hooks after this call did not run"

#endif
