import { clientCommandNames, runClientCommand } from './client-command.ts';
import type { ClientCommand } from './command.ts';
import {
  applyFlags,
  diffFlags,
  explainFlags,
  exportFlags,
  historyFlags,
  historyKinds,
  importFlags,
  logsFlags,
  migrateFlags,
  pluginActions,
  pluginFlags,
  resourceFlags,
  statusFlags,
  themeActions,
  themeFlags,
  usersFlags,
} from './flags.ts';

const historyUsage = [
  ['history', ['history KIND ID', 'lists the revisions of an object']],
  ['restore', ['restore KIND ID REVISION', 'restores a revision']],
] as const;

/** Client commands by name. Their code is loaded on use: a start of the gateway needs none of it. */
export const commandTable: ReadonlyMap<string, ClientCommand> = new Map<string, ClientCommand>([
  ...clientCommandNames.map((name): [string, ClientCommand] => [
    name,
    {
      usage: name === 'apis' ? resourceUsage() : [],
      actions: ['ls', 'get', 'apply', 'rm', ...(name === 'apis' ? ['import'] : [])],
      flags: resourceFlags,
      run: (args, cli) => runClientCommand([name, ...args], cli),
    },
  ]),
  [
    'users',
    {
      usage: [['users reset E-MAIL|ID', 'creates a link with which a user sets a new password']],
      actions: ['reset'],
      flags: usersFlags,
      run: async (args, cli) => (await import('./users-command.ts')).runUsersCommand(args, cli),
    },
  ],
  ...historyUsage.map(([name, usage]): [string, ClientCommand] => [
    name,
    {
      usage: [usage],
      actions: historyKinds,
      flags: historyFlags,
      run: async (args, cli) => (await import('./history-command.ts')).runHistoryCommand([name, ...args], cli),
    },
  ]),
  [
    'import',
    {
      usage: [['import FILE', 'creates an API from OpenAPI, Swagger, cURL, HAR, Postman or AsyncAPI']],
      flags: importFlags,
      run: async (args, cli) => (await import('./import-command.ts')).runImportCommand(args, cli),
    },
  ],
  [
    'export',
    {
      usage: [['export DIR', 'writes the configuration of an organisation to files']],
      flags: exportFlags,
      run: async (args, cli) => (await import('./configuration-command.ts')).runExportCommand(args, cli),
    },
  ],
  [
    'diff',
    {
      usage: [['diff DIR', 'shows what apply would change, and what that means for live traffic']],
      flags: diffFlags,
      run: async (args, cli) => (await import('./configuration-command.ts')).runDiffCommand(args, cli),
    },
  ],
  [
    'apply',
    {
      usage: [['apply DIR', 'creates and replaces the objects of files in one transaction']],
      flags: applyFlags,
      run: async (args, cli) => (await import('./configuration-command.ts')).runApplyCommand(args, cli),
    },
  ],
  [
    'migrate-from',
    {
      usage: [
        [
          'migrate-from tyk|kong|krakend|nginx PATH',
          'moves the APIs, policies, keys and certificates of another product',
        ],
      ],
      actions: ['tyk', 'kong', 'krakend', 'nginx'],
      flags: migrateFlags,
      run: async (args, cli) => (await import('./migrate/migrate-command.ts')).runMigrateCommand(args, cli),
    },
  ],
  [
    'plugin',
    {
      usage: [['plugin new|check|test|bundle PATH', 'creates, checks, tests and packs plugins']],
      actions: pluginActions,
      flags: pluginFlags,
      run: async (args, cli) => (await import('./plugin-command.ts')).runPluginCommand(args, cli),
    },
  ],
  [
    'theme',
    {
      usage: [['theme new|check|pack DIR', 'creates, checks and packs themes of the developer portal']],
      actions: themeActions,
      flags: themeFlags,
      run: async (args, cli) => (await import('./theme-command.ts')).runThemeCommand(args, cli),
    },
  ],
  [
    'status',
    {
      usage: [['status', 'shows health, revision, threads and APIs that are not served']],
      flags: statusFlags,
      run: async (args, cli) => (await import('./status-command.ts')).runStatusCommand(args, cli),
    },
  ],
  [
    'explain',
    {
      usage: [['explain PATH', 'sends a request and shows the decision of each step']],
      flags: explainFlags,
      run: async (args, cli) => (await import('./explain-command.ts')).runExplainCommand(args, cli),
    },
  ],
  [
    'logs',
    {
      usage: [['logs [--follow]', 'prints requests to APIs']],
      flags: logsFlags,
      run: async (args, cli) => (await import('./logs-command.ts')).runLogsCommand(args, cli),
    },
  ],
]);

function resourceUsage(): ClientCommand['usage'] {
  return [
    ['apis|keys|policies|certs ls|get|apply|rm', 'manages the objects of a running gateway; see gw keys --help'],
    ['apis import -f FILE', 'creates or updates an API from a plain OpenAPI document'],
  ];
}
