import { ts } from '@ts-morph/common';

/** The compiler API of TypeScript, in the place of the package `typescript`. */
export default ts;
