#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "dll/recorder/mpi/socket_mark.h"

#include "dll/recorder/layout.h"

#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* A socket for both versions of IP has an address of version 4 as ::ffff:10.0.0.1, while its peer
 * may have it as 10.0.0.1. */
static void unmap(struct sockaddr_storage* address) {
  struct sockaddr_in6 six;
  memcpy(&six, address, sizeof six);
  if (address->ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&six.sin6_addr))
    return;
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = six.sin6_port};
  memcpy(&four.sin_addr, &six.sin6_addr.s6_addr[12], sizeof four.sin_addr);
  memset(address, 0, sizeof *address);
  memcpy(address, &four, sizeof four);
}

static socklen_t length_of(const struct sockaddr_storage* address) {
  return address->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

/* Writes the name of one end of the socket; "" if the socket has no such address. */
static void name_end(int socket, int (*end_of)(int, struct sockaddr*, socklen_t*), char* name,
                     size_t size) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  char host[80];
  char port[16];
  name[0] = '\0';
  memset(&address, 0, sizeof address);
  if (end_of(socket, (struct sockaddr*)&address, &length) != 0 ||
      (address.ss_family != AF_INET && address.ss_family != AF_INET6))
    return;
  unmap(&address);
  if (getnameinfo((struct sockaddr*)&address, length_of(&address), host, sizeof host, port,
                  sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return;
  host[strcspn(host, "%")] = '\0'; /* the interface follows: each computer has its own names */
  snprintf(name, size, "%s:%s", host, port);
}

static int own_end(int socket, struct sockaddr* address, socklen_t* length) {
  return getsockname(socket, address, length);
}

static int other_end(int socket, struct sockaddr* address, socklen_t* length) {
  return getpeername(socket, address, length);
}

void mqr_mark_socket(int socket, char* mark) {
  char own[100];
  char other[100];
  name_end(socket, own_end, own, sizeof own);
  name_end(socket, other_end, other, sizeof other);
  mark[0] = '\0';
  if (own[0] != '\0' && other[0] != '\0')
    snprintf(mark, MQR_MARK_SIZE, "%s %s", strcmp(own, other) < 0 ? own : other,
             strcmp(own, other) < 0 ? other : own);
}
