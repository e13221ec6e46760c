/* What the kernel takes at most: non-blocking connects to a queue on 127.0.0.1 that is full, COUNT sockets in turn, each closed and replaced by
   another; with `watched` each is added to an epoll, as who wants to know whether it stands must. Prints how many a second. See README.md. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec + at.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    if (argc != 5) return fprintf(stderr, "usage: connects PORT SOCKETS SECONDS bare|watched\n"), 2;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int sockets = atoi(argv[2]), watched = !strcmp(argv[4], "watched"), epoll = epoll_create1(0);
    int *fds = malloc(sockets * sizeof *fds);
    for (int i = 0; i < sockets; i++) fds[i] = -1;
    long n = 0;
    double from = now(), end = from + atof(argv[3]), at = from;
    for (; at < end; at = now())
        for (int i = 0; i < 64; i++, n++) {
            int *fd = &fds[n % sockets];
            if (*fd >= 0) close(*fd);
            *fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
            if (*fd < 0) return perror("socket"), 1;
            if (connect(*fd, (struct sockaddr *)&to, sizeof to) && errno != EINPROGRESS) return perror("connect"), 1;
            struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET};
            if (watched && epoll_ctl(epoll, EPOLL_CTL_ADD, *fd, &event)) return perror("epoll_ctl"), 1;
        }
    printf("%.0f\n", n / (at - from));
    return 0;
}
