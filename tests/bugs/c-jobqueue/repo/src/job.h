#ifndef JOB_H
#define JOB_H

#define JOB_NAME_MAX 32

struct job {
    char name[JOB_NAME_MAX];
    int priority;       /* larger runs first */
    long due;           /* seconds; 0 means "whenever" */
    unsigned long seq;  /* order of submission */
};

/* <0 when a runs before b, >0 when after; never 0 for distinct jobs. */
int job_compare(const struct job *a, const struct job *b);

#endif
