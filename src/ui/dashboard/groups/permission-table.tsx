import { texts } from '../../texts/texts.ts';
import { canUse, useSession } from '../session/session.ts';

const own = texts.groups;

export type Permissions = Readonly<Record<string, string>>;
type PermissionName = keyof typeof own.names;
type Level = keyof typeof own.levels;

/** Permissions that are only read. */
const readOnly: ReadonlySet<string> = new Set(['analytics', 'audit_logs', 'log', 'owned_analytics', 'websockets']);
const names = Object.keys(own.names) as PermissionName[];
const levels: readonly Level[] = ['none', 'read', 'write'];

const levelOf = (permissions: Permissions, name: string): Level => {
  const level = permissions[name];
  return level === 'read' || level === 'write' ? level : 'none';
};

interface PermissionTableProps {
  readonly value: Permissions;
  onChange(value: Permissions): void;
  readonly isDisabled: boolean;
}

const cell = 'border-b border-line px-3 py-1.5';

/** Permission by none, read, write. What the user does not hold is disabled, as the server would refuse it. */
export function PermissionTable({ value, onChange, isDisabled }: PermissionTableProps) {
  const session = useSession();
  const choose = (name: string, level: Level) => {
    const { [name]: _before, ...others } = value;
    onChange(level === 'none' ? others : { ...others, [name]: level });
  };
  return (
    <table aria-label={own.permissions} className="w-full max-w-[640px] border-collapse">
      <thead>
        <tr className="text-small text-dim">
          <th scope="col" className={`${cell} pl-0 text-left font-medium`}>
            {own.permission}
          </th>
          {levels.map(level => (
            <th key={level} scope="col" className={`${cell} font-medium`}>
              {own.levels[level]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {names.map(name => (
          <tr key={name}>
            <th scope="row" className={`${cell} pl-0 text-left font-normal`}>
              {own.names[name]} <code className="font-mono text-small text-dim max-[600px]:hidden">{name}</code>
            </th>
            {levels.map(level => (
              <td key={level} className={`${cell} text-center`}>
                {!(level === 'write' && readOnly.has(name)) && (
                  <input
                    type="radio"
                    name={`permission-${name}`}
                    className="size-4 accent-accent"
                    aria-label={own.levelOf(own.names[name], own.levels[level])}
                    checked={levelOf(value, name) === level}
                    disabled={isDisabled || (level !== 'none' && !canUse(session, `${name}:${level}`))}
                    onChange={() => choose(name, level)}
                  />
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function summarizePermissions(permissions: Permissions): string {
  const held = Object.values(permissions);
  return own.summary(held.filter(it => it === 'write').length, held.filter(it => it === 'read').length);
}
