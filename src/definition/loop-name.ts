/** As `gw://` addresses write it: lower-case, without categories, anything but letters and digits turned to `-`. */
export const loopName = (name: string): string =>
  name
    .replaceAll(/\s#\S+/g, '')
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '-');

/** The same name with each run of `-` as one: `Orders & Returns` is reached as `gw://orders-returns` too. */
export const shortLoopName = (name: string): string => loopName(name).replaceAll(/-+/g, '-');
