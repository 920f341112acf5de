import type { catalogue } from '../catalogue.ts';
import { type CliEnvironment, parseCommand } from './command.ts';
import { usersFlags } from './flags.ts';
import { openLocalInstallation } from './local-installation.ts';
import { formatJson, replaceControlCharacters } from './output.ts';
import { problem } from './problems.ts';
import { createSurfaceClient } from './surface-client.ts';

/** `gw users …`: manages users of a running gw, through its admin API only. */

const kind = 'users';
const defaultUrl = 'http://127.0.0.1:3000';

const help = `gw users: manages users through the admin interface of a running gateway

Usage
  gw users reset E-MAIL|ID   creates a link with which the user sets a new password, once

Options
  --org ID         the organisation, if the address has accounts in several
  --url URL        the dashboard; default: GW_URL, the gw that runs on the data directory, or ${defaultUrl}
  --secret TEXT    the admin secret; default: GW_ADMIN_SECRET, or credentials.json of the data directory. Process
                   lists show --secret
  --data-dir PATH  the data directory; default: GW_DATA_DIR, or gw.yaml
  -o json          output for scripts
`;

const createUsageProblem = (reason: string) => problem.usage({ detail: { reason, kind } });

type ResetOperations = readonly Extract<(typeof catalogue)[number], { path: '/admin/users/actions/reset-link' }>[];

export async function runUsersCommand(args: readonly string[], { environment, print }: CliEnvironment): Promise<void> {
  const { positionals, values } = parseCommand(kind, usersFlags, args);
  const [action, user, ...more] = positionals;
  if (values.help || action === undefined || action === 'help') return print(help);
  if (action !== 'reset') throw problem.unknown_action({ detail: { kind, action, known: 'reset' } });
  if (user === undefined || more.length > 0) throw createUsageProblem('reset takes one e-mail address or id');
  if (values.output !== undefined && values.output !== 'json') throw createUsageProblem('-o takes json');
  const local = openLocalInstallation({ environment, dataDir: values['data-dir'] });
  const url = values.url || environment.GW_URL || local.dashboardUrl || defaultUrl;
  const secret = values.secret ?? environment.GW_ADMIN_SECRET ?? local.secretFor(url, 'admin_secret') ?? '';
  const call = createSurfaceClient<ResetOperations>('admin', { url, secret, fetch: local.fetchFor(url) });
  const named = user.includes('@') ? { email_address: user } : { user_id: user };
  const body = { ...named, ...(values.org !== undefined && { org_id: values.org }) };
  const { Meta: created } = await call('POST /admin/users/actions/reset-link', { body });
  if (values.output === 'json') return print(formatJson(created));
  const [link, until] = [created.link, created.expires_at].map(replaceControlCharacters);
  print(`${replaceControlCharacters(user)} sets a new password with this link, once, until ${until}:\n\n  ${link}\n`);
}
