// Functions with every kind of name, that call each other to a core.

#include <csignal>
#include <functional>
#include <vector>

#define AFTER_CALL() __asm__ volatile("" ::: "memory")
#define NOT_INLINED __attribute__((noinline, noclone))

namespace halo {

NOT_INLINED void die() {
  std::raise(SIGABRT);
  AFTER_CALL();
}

struct Exchange {
  int count = 0;
  NOT_INLINED void run(const std::vector<int>& values) const;
  NOT_INLINED void operator()(int) {
    run({1, 2});
    AFTER_CALL();
  }
  NOT_INLINED Exchange& operator<<(const char*) {
    (*this)(3);
    AFTER_CALL();
    return *this;
  }
  NOT_INLINED explicit operator bool() {
    *this << "x";
    AFTER_CALL();
    return true;
  }
  NOT_INLINED static void* operator new(std::size_t size) {
    Exchange exchange;
    static_cast<void>(static_cast<bool>(exchange));
    AFTER_CALL();
    return ::operator new(size);
  }
  virtual ~Exchange() = default;
};

void Exchange::run(const std::vector<int>&) const {
  die();
  AFTER_CALL();
}

template <class T, int size>
NOT_INLINED T make(T value) {
  delete new Exchange;
  AFTER_CALL();
  return value;
}

namespace {
NOT_INLINED void hidden(const std::function<void()>& work) {
  work();
  AFTER_CALL();
}
} // namespace

} // namespace halo

extern "C" NOT_INLINED void plain_c(int value) {
  halo::hidden([=] {
    halo::make<std::vector<int>, 7>({value});
    AFTER_CALL();
  });
  AFTER_CALL();
}

int main(int count, char**) {
  plain_c(count);
  return 0;
}
