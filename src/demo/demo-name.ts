/** Row of `meta` that holds the state of the demo, sealed. Apart from the other files, which a start without it never loads. */
export const demoMetaName = 'demo';
