/** Warning beside links with localhost. */
export const describeLocalLink = (setting: string): string =>
  `This link works on this computer only. The setting ${setting} decides the address of links.`;
