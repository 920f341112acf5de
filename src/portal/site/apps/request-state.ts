import type { StoredAccessRequest } from '../../access-requests/schema.ts';
import { html, type Markup } from '../markup.ts';

/** State of a request without a credential, in words. After a refusal of the gateway an administrator repeats it. */
export function renderRequestState({ Status, Failure }: Pick<StoredAccessRequest, 'Status' | 'Failure'>): Markup {
  if (Status !== 'pending') return html`<span class="badge danger">Rejected</span>`;
  return html`<span class="badge warning">${Failure ? 'Being processed' : 'Waits for approval'}</span>`;
}

/** Sentence for a request that is being processed; the reason of the gateway is for administrators. */
export const renderProcessing = ({ Status, Failure }: Pick<StoredAccessRequest, 'Status' | 'Failure'>): Markup | '' =>
  Status === 'pending' && Failure
    ? html`<p>The gateway did not issue it yet. The owner of this portal knows, and repeats it.</p>`
    : '';
