/** Groups of recipients: the user whom a mail is about, or the administrators of the portal. */
export type MailRecipient = 'user' | 'administrators';

interface MailKind {
  /** Event that the mail is sent after. */
  readonly trigger: string;
  readonly recipient: MailRecipient;
  /** Path in a theme, without extension. */
  readonly theme: string;
  /** Mails without which an account cannot be used or protected cannot be turned off. */
  readonly isRequired?: boolean;
  /** Templates. A line of the text that is a link to the portal becomes a button in HTML. */
  readonly subject: string;
  readonly text: string;
  /** Variables besides `site` and `user`, with the values of previews. */
  readonly sample: Readonly<Record<string, unknown>>;
}

const joinParagraphs = (...paragraphs: readonly string[]) => paragraphs.join('\n\n');
const app = 'Weather app';
const plan = 'Gold';
const link = (path: string) => `https://portal.example.org${path}`;
const sampleUser = { First: 'Ada', Last: 'Lovelace', Email: 'ada@example.org' };
const credential = { alias: 'Weather app', hash: '9f2c1d4e' };
const byRequest = { app, products: 'Forecasts, Maps', plan };

const expirySample = {
  app,
  products: 'Forecasts, Maps',
  credential,
  date: '2030-01-31 12:00',
  renew_url: link('/portal/private/apps/5'),
};

/** Credential in a notice about several; `date` is empty for one that does not expire. */
const noticedCredential = { app, products: 'Forecasts, Maps', hash: credential.hash, date: '2030-02-03 12:00' };

const certificateSample = {
  app,
  certificate: { name: 'weather.example.org', subject: 'weather.example.org', fingerprint: '5d41402abc4b2a76' },
  date: '2030-01-31 12:00',
  app_url: link('/portal/private/apps/5'),
};

const accountMails = {
  verify: {
    trigger: 'Sign-up, or change of the address of an account',
    recipient: 'user',
    theme: 'mailers/verify',
    isRequired: true,
    subject: 'Confirm your e-mail address',
    text: joinParagraphs(
      'Confirm that this address is yours:',
      '{{.verify_url}}',
      'The link works once, until {{.expires}}. If you did not ask for it, ignore this mail.',
    ),
    sample: { verify_url: link('/auth/verify?token=sample'), expires: '2030-01-31 12:00' },
  },
  account_exists: {
    trigger: 'Sign-up with the address of an account, or change of an address to it',
    recipient: 'user',
    theme: 'mailers/account_exists',
    isRequired: true,
    subject: 'You already have an account',
    text: joinParagraphs(
      'This address was entered for an account, and already has one. Sign in:',
      '{{.login_url}}',
      'Or set a new password:',
      '{{.reset_password_url}}',
    ),
    sample: { login_url: link('/auth/password/login'), reset_password_url: link('/auth/password/new') },
  },
  newuser: {
    trigger: 'Sign-up that waits for approval',
    recipient: 'administrators',
    theme: 'mailers/newuser',
    subject: 'New developer waits for approval: {{.user.Email}}',
    text: joinParagraphs(
      '{{.user.First}} {{.user.Last}} <{{.user.Email}}> of {{.organisation}} signed up and waits for ' + 'approval:',
      '{{.admin_url}}',
    ),
    sample: { organisation: 'Default Organisation', admin_url: link('/admin/users/2') },
  },
  welcome_dev: {
    trigger: 'Account of a developer created',
    recipient: 'user',
    theme: 'mailers/welcome_dev',
    subject: 'Welcome to {{.site.name}}',
    text: joinParagraphs(
      '{{if .active}}Your account is ready. Sign in:',
      '{{.login_url}}{{else}}Your account is registered, and waits for approval: you cannot sign in yet. You get another ' +
        'mail when it is active.{{end}}',
    ),
    sample: { login_url: link('/auth/password/login'), active: true },
  },
  welcome_admin: {
    trigger: 'Account of an administrator created',
    recipient: 'user',
    theme: 'mailers/welcome_admin',
    subject: 'Welcome to {{.site.name}}',
    text: joinParagraphs(
      '{{if .active}}You are an administrator of {{.site.name}}. Sign in:',
      '{{.login_url}}{{else}}You will be an administrator of {{.site.name}}. You get another mail when your account is ' +
        'active.{{end}}',
    ),
    sample: { login_url: link('/auth/password/login'), active: true },
  },
  activate: {
    trigger: 'Account activated',
    recipient: 'user',
    theme: 'mailers/activate',
    subject: 'Your account is active',
    text: joinParagraphs('Your account at {{.site.name}} is active. Sign in:', '{{.login_url}}'),
    sample: { name: 'Ada Lovelace', login_url: link('/auth/password/login') },
  },
  deactivate: {
    trigger: 'Account deactivated, or deleted by its user',
    recipient: 'user',
    theme: 'mailers/deactivate',
    subject: 'Your account is no longer active',
    text: joinParagraphs(
      'Your account at {{.site.name}} is no longer active: you cannot sign in.{{if .reason}}',
      'Reason: {{.reason}}{{end}}',
    ),
    sample: { name: 'Ada Lovelace', reason: '' },
  },
  targeted_invite: {
    trigger: 'Invitation of a developer or administrator',
    recipient: 'user',
    theme: 'auth/targeted_invite',
    isRequired: true,
    subject: '{{.inviter}} invites you to {{.team}}',
    text: joinParagraphs(
      '{{.inviter}} invites you to {{.team}} at {{.site.name}}, as {{.role}}. Join here:',
      '{{.invite_url}}',
      'The link works once, until {{.expires}}. If you do not know the sender, ignore this mail.',
    ),
    sample: {
      invite_url: link('/auth/password/register?token=sample'),
      team: 'Acme',
      role: 'developer',
      inviter: 'Ada Lovelace',
      expires: '2030-01-31 12:00',
    },
  },
  reset_password: {
    trigger: 'Forgotten password',
    recipient: 'user',
    theme: 'auth/reset_password',
    isRequired: true,
    subject: 'Reset your password',
    text: joinParagraphs(
      'A new password was requested for this address. Set it here:',
      '{{.reset_password_url}}',
      'The link works once, until {{.expires}}. If you did not ask for it, ignore this mail: the ' +
        'password stays as it is.',
    ),
    sample: {
      reset_password_url: link('/auth/password/edit?token=sample'),
      login_url: link('/auth/password/login'),
      current_user: sampleUser,
      expires: '2030-01-31 12:00',
    },
  },
  security: {
    trigger: 'Password, address, second factor or token of an account changed',
    recipient: 'user',
    theme: 'mailers/security',
    isRequired: true,
    subject: 'Your account was changed',
    text: joinParagraphs(
      '{{.what}} at {{.when}}{{if .ip}} from {{.ip}}{{end}}.',
      'If it was not you, set a new password and report it:',
      '{{.help_url}}',
    ),
    sample: {
      what: 'The password was changed',
      when: '2030-01-31 12:00',
      ip: '',
      help_url: link('/auth/password/new'),
    },
  },
} as const satisfies Record<string, MailKind>;

const accessMails = {
  submitted: {
    trigger: 'Access request created',
    recipient: 'administrators',
    theme: 'mailers/submitted',
    subject: '{{range .requests}}Access request {{.id}}: {{.products}} for {{.app}}{{end}}',
    text: joinParagraphs(
      '{{range .requests}}{{.developer}} of {{.organisation}} asks for {{.products}} with the plan ' +
        '{{.plan}}, for the app {{.app}}.{{if .note}}',
      'Note: {{.note}}{{end}}',
      '{{end}}{{.admin_url}}',
    ),
    sample: {
      requests: [{ id: 9, ...byRequest, note: '', developer: sampleUser.Email, organisation: 'Default Organisation' }],
      admin_url: link('/admin/access_requests/9'),
    },
  },
  approve: {
    trigger: 'Access request approved',
    recipient: 'user',
    theme: 'mailers/approve',
    subject: 'Access granted: {{.products}}',
    text: joinParagraphs(
      '{{.app}} has access to {{.products}} with the plan {{.plan.name}} ({{.plan.rate}}, ' +
        '{{.plan.quota}}){{if .requested_plan}}, granted in place of {{.requested_plan}}{{end}}. ' +
        'The credential is on the page of the app:',
      '{{.app_url}}',
      'How to use it:',
      '{{.docs_url}}',
    ),
    sample: {
      app,
      products: 'Forecasts, Maps',
      plan: { name: plan, rate: '10 calls a second', quota: '1,000 calls a day' },
      requested_plan: '',
      app_url: link('/portal/private/apps/5'),
      docs_url: link('/portal/catalogue-products/forecasts'),
    },
  },
  reject: {
    trigger: 'Access request rejected',
    recipient: 'user',
    theme: 'mailers/reject',
    subject: 'Access not granted: {{.products}}',
    text: joinParagraphs(
      'The request of {{.app}} for {{.products}} with the plan {{.plan}} was rejected.{{if .reason}}',
      'Reason: {{.reason}}{{end}}',
      'You can ask again:',
      '{{.retry_url}}',
    ),
    sample: { ...byRequest, reason: 'Please describe the use.', retry_url: link('/portal/private/apps/5') },
  },
  planchanged: {
    trigger: 'Plan or products of a credential changed',
    recipient: 'user',
    theme: 'mailers/planchanged',
    subject: 'Plan of {{.app}} is now {{.plan.name}}',
    text: joinParagraphs(
      '{{.app}} has access to {{.products}} with the plan {{.plan.name}} ({{.plan.rate}}, {{.plan.quota}}) from now on' +
        '{{if ne .old_plan .plan.name}} instead of {{.old_plan}}{{end}}' +
        '{{if .requested_plan}}; it was granted in place of {{.requested_plan}}{{end}}. Its key is the same.',
      '{{.app_url}}',
    ),
    sample: {
      app,
      products: 'Forecasts, Maps',
      old_plan: 'Silver',
      plan: { name: plan, rate: '10 calls a second', quota: '1,000 calls a day' },
      requested_plan: '',
      app_url: link('/portal/private/apps/5'),
    },
  },
  rotated: {
    trigger: 'Key of a credential rotated',
    recipient: 'user',
    theme: 'mailers/rotated',
    subject: 'Key of {{.app}} was rotated',
    text: joinParagraphs(
      'The key of {{.app}} with the hash {{.credential.hash}} was replaced.{{if .old_valid_until}} ' +
        'The old key is valid until {{.old_valid_until}}.{{else}} The old key is no longer valid.{{end}}',
      '{{.app_url}}',
    ),
    sample: { app, credential, old_valid_until: '', app_url: link('/portal/private/apps/5') },
  },
  revoked: {
    trigger: 'Credential revoked',
    recipient: 'user',
    theme: 'mailers/revoked',
    subject: 'Credential of {{.app}} was revoked',
    text: joinParagraphs(
      'The key of {{.app}} with the hash {{.credential.hash}} was revoked: it is refused from now ' +
        'on.{{if .reason}}',
      'Reason: {{.reason}}{{end}}',
      '{{.app_url}}',
    ),
    sample: { app, credential, reason: '', app_url: link('/portal/private/apps/5') },
  },
  keytoexpire: {
    trigger: 'Credential expires soon',
    recipient: 'user',
    theme: 'mailers/keytoexpire',
    subject: 'Credential of {{.app}} expires on {{.date}}',
    text: joinParagraphs(
      'The key of {{.app}} for {{.products}} with the hash {{.credential.hash}} expires on {{.date}}. It is refused ' +
        'from then on: request access again before.{{if .others}}',
      'These expire too:{{range .others}}\n{{.app}} for {{.products}}, with the hash {{.hash}}, on {{.date}}{{end}}{{end}}',
      '{{.renew_url}}',
    ),
    sample: { ...expirySample, others: [noticedCredential] },
  },
  credentialnote: {
    trigger: 'Note of an administrator to owners of credentials',
    recipient: 'user',
    theme: 'mailers/credentialnote',
    subject: '{{.headline}}',
    text: joinParagraphs(
      '{{.headline}}{{if .text}}',
      '{{.text}}{{end}}',
      'It is about:{{range .credentials}}\n{{.app}} for {{.products}}{{if .hash}}, with the hash {{.hash}}{{end}}' +
        '{{if .date}}, until {{.date}}{{end}}{{end}}',
      '{{.url}}',
    ),
    sample: {
      headline: 'Keys without calls are revoked in June',
      text: 'Call the API once to keep yours.',
      credentials: [noticedCredential],
      url: link('/portal/private/apps/5'),
    },
  },
  keyexpired: {
    trigger: 'Credential expired',
    recipient: 'user',
    theme: 'mailers/keyexpired',
    subject: 'Credential of {{.app}} has expired',
    text: joinParagraphs(
      'The key of {{.app}} for {{.products}} with the hash {{.credential.hash}} expired on {{.date}}, and is refused.',
      'Request access again:',
      '{{.renew_url}}',
    ),
    sample: expirySample,
  },
  certtoexpire: {
    trigger: 'Client certificate in use expires soon',
    recipient: 'user',
    theme: 'mailers/certtoexpire',
    subject: 'Client certificate of {{.app}} expires on {{.date}}',
    text: joinParagraphs(
      'The client certificate {{.certificate.name}} of {{.app}} expires on {{.date}} (SHA-256 ' +
        '{{.certificate.fingerprint}}). Calls with it are refused from then on: attach the next certificate before.',
      '{{.app_url}}',
    ),
    sample: certificateSample,
  },
  certexpired: {
    trigger: 'Client certificate in use expired',
    recipient: 'user',
    theme: 'mailers/certexpired',
    subject: 'Client certificate of {{.app}} has expired',
    text: joinParagraphs(
      'The client certificate {{.certificate.name}} of {{.app}} expired on {{.date}} (SHA-256 ' +
        '{{.certificate.fingerprint}}), and calls with it are refused. Attach another one:',
      '{{.app_url}}',
    ),
    sample: certificateSample,
  },
  quota: {
    trigger: 'Quota of a credential used to 75, 90 or 100 %',
    recipient: 'user',
    theme: 'mailers/quota',
    subject: '{{.app}} used {{.percent}}% of its quota',
    text: joinParagraphs(
      'The key of {{.app}} with the hash {{.credential.hash}} used {{.used}} of the {{.max}} requests of its plan ' +
        '{{.plan}}.{{if .renews}} The quota renews at {{.renews}}.{{else}} The quota does not renew.{{end}}',
      '{{.app_url}}',
    ),
    sample: {
      app,
      credential,
      plan,
      percent: 75,
      used: 750,
      max: 1000,
      renews: '2030-01-31 12:00',
      app_url: link('/portal/private/apps/5'),
    },
  },
} as const satisfies Record<string, MailKind>;

const productMails = {
  announce: {
    trigger: 'Entry in the changelog of a product',
    recipient: 'user',
    theme: 'mailers/announce',
    subject: '{{.product}}: {{.headline}}',
    text: joinParagraphs(
      '{{.product}}{{if .version}} {{.version}}{{end}}, {{.kind}} on {{.date}}: {{.headline}}',
      '{{.text}}',
      '{{.url}}',
      'You asked to be notified of changes of this product; the same page ends it.',
    ),
    sample: {
      product: 'Forecasts',
      headline: 'Hourly values',
      kind: 'added',
      version: '1.1',
      date: '2030-01-31 12:00',
      text: 'Forecasts have hourly values.',
      url: link('/portal/catalogue-products/forecasts/changelog'),
    },
  },
} as const satisfies Record<string, MailKind>;

const operationMails = {
  ops: {
    trigger: 'Provider unavailable at a synchronisation',
    recipient: 'administrators',
    theme: 'mailers/ops',
    subject: '{{.site.name}}: {{.what}} needs attention',
    text: joinParagraphs('{{.what}} needs attention: {{.facts}}', '{{.admin_url}}'),
    sample: { what: 'Provider Europe', facts: 'connection refused', admin_url: link('/admin/providers/2') },
  },
} as const satisfies Record<string, MailKind>;

const organisationMails = {
  organisation_request: {
    trigger: 'Request for an organisation',
    recipient: 'administrators',
    theme: 'mailers/organisation_request',
    subject: 'Organisation request: {{.organisationName}}',
    text: joinParagraphs(
      '{{.user.First}} {{.user.Last}} <{{.user.Email}}> asks for the organisation {{.organisationName}}:',
      '{{.admin_url}}',
    ),
    sample: { organisationName: 'Acme', admin_url: link('/admin/organisation_requests/3') },
  },
  organisation_approve: {
    trigger: 'Request for an organisation approved',
    recipient: 'user',
    theme: 'mailers/organisation_approve',
    subject: 'Organisation {{.name}} is ready',
    text: joinParagraphs('You are an administrator of {{.name}}. Its members:', '{{.url}}'),
    sample: { name: 'Acme', url: link('/portal/private/users') },
  },
  organisation_reject: {
    trigger: 'Request for an organisation rejected',
    recipient: 'user',
    theme: 'mailers/organisation_reject',
    subject: 'Organisation {{.name}} was not approved',
    text: joinParagraphs(
      'The request for the organisation {{.name}} was rejected.{{if .reason}}',
      'Reason: {{.reason}}{{end}}',
      'You can ask again:',
      '{{.organisation_url}}',
    ),
    sample: {
      name: 'Acme',
      reason: 'Please use the name of your company.',
      organisation_url: link('/portal/private/organisation'),
    },
  },
} as const satisfies Record<string, MailKind>;

/** Every mail of the portal, by name. */
export const mailTable = { ...accountMails, ...accessMails, ...productMails, ...operationMails, ...organisationMails };
export type MailName = keyof typeof mailTable;

type Widen<T> = T extends string
  ? string
  : T extends number
    ? number
    : T extends boolean
      ? boolean
      : T extends readonly (infer Item)[]
        ? readonly Widen<Item>[]
        : { readonly [K in keyof T]: Widen<T[K]> };

/** Variables that a mail needs, besides those every mail has. */
export type MailVariables<Name extends MailName> = Widen<(typeof mailTable)[Name]['sample']>;

/** User of previews and tests. */
export const sampleMailUser = sampleUser;
export const findMailKind = (name: string): MailKind | undefined =>
  Object.hasOwn(mailTable, name) ? mailTable[name as MailName] : undefined;
