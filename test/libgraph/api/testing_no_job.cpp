// A shared object without a job in it.

int headrace_testing_nothing();
int headrace_testing_nothing() { return 0; }
