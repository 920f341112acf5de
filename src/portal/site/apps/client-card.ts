import type { StoredOauthClient } from '../../oauth-clients/schema.ts';
import { renderField } from '../form.ts';
import { html, type Markup } from '../markup.ts';

/** Single quotes of a POSIX shell. */
const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

const isOwnGrant = ({ GrantType }: StoredOauthClient) => GrantType.split(',').includes('client_credentials');

/** Command that gets a token; users of other grants begin at the authorization endpoint. */
function formatTokenRequest(client: StoredOauthClient): string {
  const { ClientID, Scope, TokenEndpoint, AuthMethod } = client;
  const isPost = AuthMethod === 'client_secret_post';
  const lines = [
    `curl ${quote(TokenEndpoint)}`,
    isPost
      ? `-d ${quote(`client_id=${ClientID}`)} -d "client_secret=$CLIENT_SECRET"`
      : `-u ${quote(ClientID)}:"$CLIENT_SECRET"`,
    '-d grant_type=client_credentials',
    `--data-urlencode ${quote(`scope=${Scope}`)}`,
  ];
  return lines.join(' \\\n  ');
}

/** Id, addresses and scopes of an OAuth client, for its developer; the secret is shown apart, and once. */
export function renderClientFacts(client: StoredOauthClient): Markup {
  const facts = [
    ['Client id', client.ClientID],
    ['Token endpoint', client.TokenEndpoint],
    ['Authorization endpoint', isOwnGrant(client) ? '' : client.AuthorizationEndpoint],
    ['Scopes', client.Scope],
    ['Redirect URLs', client.RedirectURIs.join(', ')],
  ] as const;
  return html`<ul class="facts">${facts
    .filter(([, value]) => value !== '')
    .map(([label, value]) => html`<li>${label} <code>${value}</code></li>`)}
<li>Grants: ${client.GrantType.replaceAll(',', ', ')}</li></ul>
${
  isOwnGrant(client) && client.TokenEndpoint !== ''
    ? html`<p>Get a token, and send it as <code>Authorization: Bearer …</code>:</p>
<pre class="code" tabindex="0"><code>${formatTokenRequest(client)}</code></pre>`
    : html`<p class="dim">Ask for all of these scopes: they select the access and the plan.</p>`
}`;
}

/** The script of the site removes what can be shown again. */
export const renderHiding = (isShownOnce: boolean): Markup | '' => (isShownOnce ? '' : html` data-hide-seconds="30"`);

export const describeHiding = (noun: 'key' | 'secret', isShownOnce: boolean): string =>
  isShownOnce ? `Copy this ${noun} now: it is not shown again.` : `This ${noun} is hidden after 30 seconds.`;

export const renderClientSecret = (secret: string, isShownOnce: boolean): Markup =>
  html`<div class="secret" role="status"${renderHiding(isShownOnce)}>
<p><strong>${describeHiding('secret', isShownOnce)}</strong></p>
<code>${secret}</code> <button class="copy quiet" type="button" data-copy="${secret}" hidden>Copy</button></div>`;

/** Form that changes the addresses of a client, where it has any. */
export const renderRedirectChange = (client: StoredOauthClient, action: string, hidden: Markup): Markup | '' =>
  client.RedirectURIs.length === 0
    ? ''
    : html`<form class="inline" method="post" action="${action}">${hidden}
${renderField({
  name: 'redirect_url',
  label: 'Redirect URLs',
  value: client.RedirectURIs.join(', '),
  maxLength: 10_000,
})}<button class="secondary">Save redirect URLs</button></form>`;
