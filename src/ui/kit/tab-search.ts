/** `validateSearch` of a page with tabs; the first is the default. */
export const readTabSearch =
  (...tabs: readonly string[]) =>
  ({ tab: given }: Record<string, unknown>): { readonly tab?: string } =>
    typeof given === 'string' && tabs.includes(given) ? { tab: given } : {};
