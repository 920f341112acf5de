import type { RecordChange, RowChange } from '#storage/collection.ts';
import type { StoredPlan } from '../plans/schema.ts';
import type { StoredProduct } from '../products/schema.ts';
import { type NotifyPortal, portalMessages } from './notify.ts';

interface Offered {
  readonly ID: number;
  readonly Hidden: boolean;
}

/** Both states of a changed row; undefined where nothing changed, or the row was removed. A new one has no number yet. */
function readChange<Doc extends Offered>({ before, after }: RowChange) {
  if (after === undefined || before === after) return undefined;
  const former = before === undefined ? undefined : (JSON.parse(before) as Doc);
  const current = JSON.parse(after) as Doc;
  return { current, isNew: !former?.ID, isPublished: !current.Hidden && (!former?.ID || former.Hidden) };
}

/** Reports writes of products: `ProductPublished` where visitors may find one from now on, else `ProductChanged`. */
export const createProductReporter =
  (notify: NotifyPortal): RecordChange =>
  async row => {
    const change = readChange<StoredProduct>(row);
    if (!change || (change.isNew && !change.isPublished)) return;
    const event = change.isPublished ? 'ProductPublished' : 'ProductChanged';
    await notify(event, portalMessages.product(change.current));
  };

/** Reports writes of plans, except for new ones. */
export const createPlanReporter =
  (notify: NotifyPortal): RecordChange =>
  async row => {
    const change = readChange<StoredPlan>(row);
    if (change && !change.isNew) await notify('PlanChanged', portalMessages.plan(change.current));
  };
