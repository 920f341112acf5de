/** Texts of the introduction about an upstream without a response, loaded with it. */
export const unreachableTexts = {
  title: 'Upstream unreachable',
  about: (upstream: string) => `The gateway could not reach the upstream ${upstream}.`,
  sample: 'Go back and publish the sample',
  change: 'Change the upstream',
} as const;
