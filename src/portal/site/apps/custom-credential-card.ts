import type { StoredCustomCredential } from '../../custom-credentials/schema.ts';
import type { StoredOauthClient } from '../../oauth-clients/schema.ts';
import type { StoredPlan } from '../../plans/schema.ts';
import type { StoredProduct } from '../../products/schema.ts';
import { html, type Markup } from '../markup.ts';
import { appsPath, type SiteServices, toProductUrl } from '../page.ts';
import { displayName, formatDay, formatQuota, formatRate } from '../words.ts';
import { describeHiding, renderClientFacts, renderHiding } from './client-card.ts';
import { type RevealMode, renderRevealForm } from './reveal-form.ts';

type CustomCredential = StoredCustomCredential & { readonly Client?: StoredOauthClient };

export interface CustomCredentialView {
  readonly credential: CustomCredential;
  readonly plan: StoredPlan | undefined;
  readonly products: readonly StoredProduct[];
}

/** Parts of a custom credential that are secret, with their labels; empty ones are left out. */
export const listSecrets = ({ KeyID, CredentialKey, CredentialSecret, Client }: CustomCredential) =>
  (Client
    ? ([['Client secret', Client.ClientSecret]] as const)
    : ([
        ['Key', KeyID || CredentialKey],
        ['Secret', CredentialSecret],
      ] as const)
  ).filter(([, value]) => value !== '');

/** Credentials that administrators gave to an app, newest first. */
export async function loadCustomCredentials(appId: number, { portal }: SiteServices): Promise<CustomCredentialView[]> {
  const outlines = (await portal.customCredentials.ofApp(appId)).toReversed();
  const plans = await portal.plans.byIds(outlines.map(({ PlanID }) => PlanID));
  const products = await portal.products.byIds(outlines.flatMap(({ ProductIDs }) => ProductIDs));
  const views: CustomCredentialView[] = [];
  for (const outline of outlines) {
    // The OAuth client of a credential is read with it alone.
    const credential = outline.OauthClientID ? await portal.customCredentials.get(outline.ID) : outline;
    if (!credential) continue;
    const named = credential.ProductIDs.flatMap(id => products.get(id) ?? []);
    views.push({ credential, plan: plans.get(credential.PlanID), products: named });
  }
  return views;
}

interface CustomCardOptions {
  readonly csrf: Markup;
  readonly canEdit: boolean;
  readonly appId: number;
  readonly revealMode: RevealMode;
  /** Credential whose secrets this page shows. */
  readonly revealedCustom: number | undefined;
}

export function renderCustomCredential(view: CustomCredentialView, options: CustomCardOptions): Markup {
  const { credential, plan, products } = view;
  const { ID, Alias, CreatedAt, Client } = credential;
  const isShown = options.revealedCustom === ID;
  return html`<article class="card"><h3>${Alias} <span class="badge">Added by an administrator</span></h3>
${isShown ? renderSecrets(credential, options.revealMode === 'once') : ''}
<ul class="facts">${products.map(it => html`<li><a href="${toProductUrl(it)}">${displayName(it)}</a></li>`)}
${plan ? html`<li>${displayName(plan)}: ${formatRate(plan)}, ${formatQuota(plan).toLowerCase()}</li>` : ''}
<li>Created ${formatDay(CreatedAt)}</li></ul>${Client ? renderClientFacts(Client) : ''}
${options.canEdit && !isShown ? renderReveal(credential, options) : ''}</article>`;
}

function renderReveal(credential: CustomCredential, { csrf, appId, revealMode }: CustomCardOptions): Markup | '' {
  const { ID, RevealedAt } = credential;
  if (listSecrets(credential).length === 0) return '';
  const action = `${appsPath}/${appId}/custom-credentials/${ID}/reveal`;
  // Credentials of both kinds have numbers of their own: a negative one cannot be that of the other kind.
  if (revealMode !== 'once') return renderRevealForm('key', -ID, revealMode, action, csrf);
  if (RevealedAt)
    return html`<p class="dim">This key was shown once already. If it is lost, ask an administrator for a new one.</p>`;
  return html`<div class="actions"><form method="post" action="${action}">${csrf}<button>Show key once</button></form></div>`;
}

const renderSecrets = (credential: CustomCredential, isShownOnce: boolean): Markup =>
  html`<div class="secret" role="status"${renderHiding(isShownOnce)}>
<p><strong>${describeHiding('key', isShownOnce)}</strong></p>${listSecrets(credential).map(
    ([label, value]) => html`<p>${label} <code>${value}</code>
<button class="copy quiet" type="button" data-copy="${value}" hidden>Copy</button></p>`,
  )}</div>`;
