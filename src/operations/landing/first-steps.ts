import { escapeMarkup } from '#base/escape-markup.ts';

/** Addresses of the listeners of this installation, as far as this process has them. */
export type ListenerUrls = Readonly<Partial<Record<'dashboard' | 'portal' | 'control' | 'gateway', string>>>;

interface FirstStep {
  readonly about: string;
  readonly command: string;
}

type Steps = (urls: ListenerUrls) => readonly FirstStep[];

/** Commands with the addresses of this installation. Credentials are variables: the page needs no sign-in. */
const firstSteps: Readonly<Record<'dashboard' | 'portal' | 'control', Steps>> = {
  dashboard: ({ dashboard = '', gateway = '' }) => [
    {
      about: 'Publish an API. Its upstream here is the health endpoint of the gateway; use yours.',
      command: `curl -sS '${dashboard}/api/apis?wait=applied' \\
  -H "Authorization: Bearer $ACCESS_KEY" -d '{"api_definition": {
    "api_id": "first-steps", "name": "First steps", "use_keyless": true,
    "proxy": {"listen_path": "/first-steps", "strip_listen_path": true,
      "target_url": "${gateway}"}}}'`,
    },
    { about: 'Call it through the gateway.', command: `curl -sS ${gateway}/first-steps/hello` },
    {
      about: 'Remove it.',
      command: `curl -sS -X DELETE ${dashboard}/api/apis/first-steps \\
  -H "Authorization: Bearer $ACCESS_KEY"`,
    },
  ],
  portal: ({ portal = '' }) => [
    {
      about: 'List the catalogues.',
      command: `curl -sS ${portal}/portal-api/catalogues \\
  -H "Authorization: $PORTAL_TOKEN"`,
    },
  ],
  control: ({ control = '' }) => [
    {
      about: 'List the APIs that this gateway serves.',
      command: `curl -sS ${control}/gw/apis \\
  -H "X-Gw-Authorization: $GW_SECRET"`,
    },
  ],
};

const credentials = {
  dashboard: { variable: 'ACCESS_KEY', name: 'admin_access_key' },
  portal: { variable: 'PORTAL_TOKEN', name: 'portal_token' },
  control: { variable: 'GW_SECRET', name: 'gateway_secret' },
} as const;

export function renderFirstSteps(name: keyof typeof credentials, urls: ListenerUrls): string {
  const { variable, name: member } = credentials[name];
  const steps = firstSteps[name](urls).map(
    ({ about, command }) =>
      `<li><p>${escapeMarkup(about)}</p><pre tabindex="0"><code>${escapeMarkup(command)}</code></pre></li>`,
  );
  return (
    `<h2>First steps</h2><p><code>${variable}</code> is <code>${member}</code> of <code>credentials.json</code> ` +
    'in the data directory of the first start; <code>gw credentials</code> prints its path.</p>' +
    `<ol class="steps">${steps.join('')}</ol>`
  );
}
