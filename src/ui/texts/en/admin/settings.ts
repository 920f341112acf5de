import { pluralize } from '../../pluralize.ts';

/** Texts of attributes, configuration and the overview. */
export const attributeTexts = {
  title: 'Attributes',
  about: 'Fields of users beside name and address.',
  columns: { name: 'Label', identifier: 'Identifier', type: 'Type', behaviour: 'On the profile', signUp: 'On sign-up' },
  types: { 1: 'Text', 2: 'Choice', 3: 'Yes or no', 4: 'Number' } as Readonly<Record<number, string>>,
  behaviours: { 1: 'Shown, can be changed', 2: 'Shown', 3: 'Hidden' } as Readonly<Record<number, string>>,
  yes: 'Yes',
  no: 'No',
  emptyTitle: 'There are no custom attributes',
  emptyAbout: 'Ask developers for more than their address.',
  create: 'Create attribute',
  newTitle: 'New attribute',
  details: 'Attribute',
  identifierHelp: 'Letters, digits, _ and -. It cannot change later, and is the name in the metadata of keys.',
  description: 'Description',
  choices: 'Choices',
  choicesHelp: 'Separated by commas.',
  pattern: 'Pattern',
  patternHelp: 'RE2 expression that a text has to contain.',
  required: 'Required',
  signUp: 'Ask for it on sign-up',
  writeOnce: 'A user can set it once only',
  toMetadata: 'Copy into the metadata of keys',
  save: 'Save attribute',
  deleteAction: (name: string) => `Delete attribute ${name}`,
  deleteConsequence: (count: number) =>
    count === 0
      ? 'No user has a value.'
      : count === 1
        ? 'The value of 1 user is deleted too.'
        : `The values of ${count} users are deleted too.`,
  deleted: 'The attribute was deleted',
  defaults: 'Built-in attributes in the metadata of keys',
} as const;

export const configurationTexts = {
  title: 'Configuration',
  about: 'Settings of the installation that concern the portal. They are set where it starts.',
  rows: {
    version: 'Version',
    bootstrapped: 'Set up',
    port: 'Port',
    logLevel: 'Log level',
    logFormat: 'Log format',
    secret: 'Token of the management API',
    tls: 'TLS',
    tlsVersion: 'Lowest TLS version',
    database: 'Database',
    blog: 'Blog',
  },
  on: 'On',
  off: 'Off',
  formats: { dev: 'Text', prod: 'JSON' },
} as const;

export const generalTexts = {
  title: 'General',
  about: 'Settings of the portal in effect. Changes hold at once, in all processes of the installation.',
  on: 'On',
  off: 'Off',
  empty: 'Not set',
  sources: {
    default: 'Default',
    file: 'File',
    stored: 'Set here',
    environment: 'Environment',
    flag: 'Flag',
  },
  setHere: 'Portal',
  ofProcess: 'Set where the portal starts',
  save: 'Save settings',
  saved: 'The settings were saved',
  changed: 'Set here',
  configured: (value: string) => `configured: ${value}`,
  reset: (label: string) => `Reset ${label}`,
  wasReset: (label: string) => `${label} has the configured value again`,
  labels: {
    'portal.name': 'Name',
    'portal.visibility': 'Visibility of the site',
    'portal.indexing': 'Search engines',
    'portal.robots_txt': 'Rules for crawlers (robots.txt)',
    'portal.llms_txt': 'File for agents (llms.txt)',
    'portal.embed_origins': 'Origins that may embed pages',
    'portal.try_it': 'Try it',
    'portal.secret_display': 'Display of keys and secrets',
    'portal.second_factor': 'Second factor',
    'portal.registration': 'Sign-up',
    'portal.sso_creates_developers': 'Accounts of developers by single sign-on',
    'portal.organisation_requests': 'Requests for organisations',
    'portal.invitation_ttl_seconds': 'Validity of invitations in seconds',
    'portal.expiry_notice_days': 'Notice before expiry in days',
    'portal.max_rotation_overlap_seconds': 'Maximum overlap of rotated keys in seconds',
  } as Readonly<Record<string, string>>,
  options: {
    public: 'Public',
    private: 'Signed-in users',
    hidden: 'Administrators',
    off: 'Off',
    users: 'Signed-in users',
    all: 'All',
    once: 'Once',
    reauthentication: 'Each time after the password',
    optional: 'Optional',
    administrators: 'Required of administrators',
    approval: 'After approval',
    open: 'Open',
  } as Readonly<Record<string, string>>,
  /** Options whose meaning differs by the setting. */
  optionsOf: {
    'portal.second_factor': { all: 'Required of all users' },
    'portal.try_it': { all: 'Also signed-out visitors' },
  } as Readonly<Record<string, Readonly<Record<string, string>>>>,
} as const;

export const adminProfileTexts = {
  title: 'Profile',
  account: 'Account',
  name: 'Name',
  signIn: 'Signs in with',
  password: 'Password',
  since: 'Member since',
  changePassword: 'Change password on the site',
  save: 'Save name',
  saved: 'Your name was saved',
} as const;

export const overviewTexts = {
  title: 'Overview',
  waiting: 'Waits for you',
  requests: 'Access requests that wait',
  inactive: 'Users who are not active',
  providersDown: 'Providers that are not up',
  failedMails: 'Mails that failed',
  offer: 'Offer and demand',
  products: 'Products',
  plans: 'Plans',
  apps: 'Apps',
  users: 'Users',
  organisations: 'Requests for organisations',
  demand: 'Requests and sign-ups',
  requestsMade: 'Access requests',
  signUps: 'Sign-ups',
  demandSummary: (requests: string, signUps: string) =>
    `${pluralize(requests, 'access request')} and ${pluralize(signUps, 'sign-up')} in the last 30 days`,
  calls: 'Calls of apps',
  errors: 'Errors',
  callsSummary: (calls: string) => `${pluralize(calls, 'call')} with keys of apps in the last 30 days`,
  site: 'Sign-up and mails',
  on: 'On',
  off: 'Off',
  signUp: 'Sign-up',
  signUpOff: 'Visitors cannot sign up: you create or invite users. Set Sign-up under General to change it.',
  signUpOn: {
    approval: 'Developers sign up and confirm their address; you activate each account.',
    open: 'Developers sign up and confirm their address; their accounts are active at once.',
  },
  signUpWithoutMail: 'Registration is on, but addresses are confirmed by mail: set mail.smtp_url and mail.from.',
  mail: 'Mails',
  mailOn: 'Mails are sent. The outbox shows those that failed.',
  mailOff:
    'There is no mail server: no mails about requests, keys or forgotten passwords. Set mail.smtp_url and mail.from.',
  newest: 'Newest requests',
  nothing: 'No request waits.',
} as const;

export const portalAuditTexts = {
  about: 'Changes and attempts of administrators, and forms that visitors of the site sent.',
} as const;
