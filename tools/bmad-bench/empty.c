/* empty.c - what any process costs: bmad-mem is measured above this. */
int main(void) { return 0; }
