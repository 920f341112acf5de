import type { Step } from '../step.ts';
import { Unservable } from '../step.ts';

/**
 * What a definition may ask for and this gateway cannot do. Serving the API without it could let in whom it keeps out, so
 * the API is not served at all, and says why.
 */
export const unsupported: Step = {
  name: 'unsupported',
  make({ model }) {
    if (model.modes.length > 0) throw new Unservable(`authentication by ${model.modes.join(', ')} is not available`);
    return undefined;
  },
};
