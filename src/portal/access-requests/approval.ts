import { approveChange } from './change.ts';
import { approveNewRequest, type DecisionServices } from './decision.ts';

/** Approves a pending request, or a pending change of an approved one. */
export async function approveRequest(id: number, services: DecisionServices): Promise<void> {
  const found = await services.portal.accessRequests.get(id);
  await (found?.Changes ? approveChange : approveNewRequest)(id, services);
}
