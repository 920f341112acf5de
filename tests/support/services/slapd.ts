import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { slapdProgram } from '../../../tools/services.ts';
import { makeAuthority, makeServerCertificate } from '../certificates.ts';
import { freePort, startServer } from './server.ts';

const run = promisify(execFile);

export const directoryBase = 'dc=example,dc=org';
export const directoryAdmin = { name: `cn=admin,${directoryBase}`, password: 'directory admin password' };

export interface DirectoryUser {
  readonly uid: string;
  readonly password: string;
  readonly mail?: string;
  readonly groups?: readonly string[];
}

export interface Slapd {
  readonly port: number;
  readonly tlsPort: number;
  /** Authority of its certificate, PEM. */
  readonly ca: string;
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

/** Starts a throw-away OpenLDAP server with these users; it accepts unauthenticated binds, as careless ones do. */
export async function startSlapd(users: readonly DirectoryUser[]): Promise<Slapd> {
  const directory = mkdtempSync(join(tmpdir(), 'gw-slapd-'));
  const authority = makeAuthority();
  const certificate = makeServerCertificate(authority);
  const write = (name: string, text: string) => writeFileSync(join(directory, name), text);
  mkdirSync(join(directory, 'db'));
  write('ca.pem', authority.certPem);
  write('cert.pem', certificate.certPem);
  write('key.pem', certificate.keyPem);
  write('slapd.conf', formatConfiguration(directory));
  write('users.ldif', [organisationLdif, ...users.map(formatUser)].join('\n'));
  const configuration = join(directory, 'slapd.conf');
  await run(join(slapdProgram(), '../slapadd'), ['-f', configuration, '-l', join(directory, 'users.ldif')]);
  const tlsPort = await freePort();
  const server = await startServer({
    program: slapdProgram(),
    args: port => ['-d', '0', '-f', configuration, '-h', `ldap://127.0.0.1:${port}/ ldaps://127.0.0.1:${tlsPort}/`],
    answers: port => Promise.all([port, tlsPort].map(opens)),
  });
  return {
    port: server.port,
    tlsPort,
    ca: authority.certPem,
    pause: server.pause,
    resume: server.resume,
    async stop() {
      await server.kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function opens(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  const opened = new Promise<void>((resolve, reject) => {
    socket.once('connect', () => resolve()).once('error', reject);
  });
  return opened.finally(() => socket.destroy());
}

const formatConfiguration = (directory: string) => `
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile ${directory}/slapd.pid
allow bind_anon_cred bind_anon_dn
TLSCACertificateFile ${directory}/ca.pem
TLSCertificateFile ${directory}/cert.pem
TLSCertificateKeyFile ${directory}/key.pem
database mdb
maxsize 10485760
suffix "${directoryBase}"
rootdn "${directoryAdmin.name}"
rootpw "${directoryAdmin.password}"
directory ${directory}/db
access to attrs=userPassword by anonymous auth by * none
access to * by * read
`;

const organisationLdif = `dn: ${directoryBase}
objectClass: dcObject
objectClass: organization
dc: example
o: Example

dn: ou=people,${directoryBase}
objectClass: organizationalUnit
ou: people
`;

const formatUser = ({ uid, password, mail, groups = [] }: DirectoryUser) =>
  [
    `dn:: ${Buffer.from(`uid=${uid.replaceAll(/[,+"\\<>;=#]/g, '\\$&')},ou=people,${directoryBase}`).toString('base64')}`,
    'objectClass: inetOrgPerson',
    `uid:: ${Buffer.from(uid).toString('base64')}`,
    'cn: Ann Example',
    'givenName: Ann',
    'sn: Example',
    ...(mail ? [`mail: ${mail}`] : []),
    ...groups.map(group => `departmentNumber: ${group}`),
    `userPassword: ${password}`,
    '',
  ].join('\n');
