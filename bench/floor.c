/* What the kernel takes at most: datagrams sent one by one, or 64 at a time, to 127.0.0.1. Prints how many a second, and how many a second of
   processor time. See README.md. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define BATCH 64
#define BYTES 64

int main(int argc, char **argv) {
    if (argc != 4) return fprintf(stderr, "usage: floor PORT COUNT one|many\n"), 2;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    long count = atol(argv[2]);
    int many = !strcmp(argv[3], "many"), fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to)) return perror("socket"), 1;
    static char bytes[BATCH][BYTES];
    struct iovec parts[BATCH];
    struct mmsghdr messages[BATCH] = {0};
    for (int i = 0; i < BATCH; i++) {
        parts[i] = (struct iovec){bytes[i], BYTES};
        messages[i].msg_hdr.msg_iov = &parts[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    struct timespec from, end, ran_from, ran_end;
    clock_gettime(CLOCK_MONOTONIC, &from);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ran_from);
    for (long sent = 0; sent < count;) {
        long n = many ? sendmmsg(fd, messages, BATCH, 0) : (send(fd, bytes[0], BYTES, 0) == BYTES ? 1 : -1);
        if (n < 0) return perror("send"), 1;
        sent += n;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ran_end);
    double s = end.tv_sec - from.tv_sec + (end.tv_nsec - from.tv_nsec) / 1e9;
    double ran = ran_end.tv_sec - ran_from.tv_sec + (ran_end.tv_nsec - ran_from.tv_nsec) / 1e9;
    printf("%.0f %.0f\n", count / s, count / ran);
    return 0;
}
