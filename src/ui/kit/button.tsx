import type { LucideIcon } from 'lucide-react';
import type { ButtonHTMLAttributes, Ref } from 'react';
import { classNames } from './class-names.ts';

export type ButtonKind = 'primary' | 'secondary' | 'quiet' | 'danger';

const kinds: Readonly<Record<ButtonKind, string>> = {
  primary: 'bg-accent text-on-accent border-transparent hover:brightness-110',
  secondary: 'bg-surface text-ink border-edge hover:bg-hover',
  quiet: 'bg-transparent text-ink border-transparent hover:bg-hover',
  danger: 'bg-danger-solid text-on-accent border-transparent hover:brightness-110',
};

const shape =
  'control inline-flex items-center justify-center gap-2 border px-3 font-medium whitespace-nowrap ' +
  'disabled:opacity-55 disabled:hover:brightness-100';

export const buttonClass = (kind: ButtonKind = 'secondary', more = ''): string => classNames(shape, kinds[kind], more);

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: ButtonKind;
  readonly icon?: LucideIcon;
  /** Work is running: the button stays in place and cannot be pressed twice. */
  readonly isBusy?: boolean;
  readonly ref?: Ref<HTMLButtonElement>;
}

export function Button({ kind = 'secondary', icon: Icon, isBusy = false, className, children, ...rest }: ButtonProps) {
  const isDisabled = isBusy || rest.disabled === true;
  return (
    <button
      type="button"
      {...rest}
      disabled={isDisabled}
      aria-busy={isBusy}
      className={buttonClass(kind, classNames(className))}
    >
      {Icon && <Icon size={16} strokeWidth={1.5} aria-hidden />}
      {children}
    </button>
  );
}

export interface IconButtonProps extends Omit<ButtonProps, 'children' | 'icon'> {
  readonly icon: LucideIcon;
  /** Accessible name, also the tooltip. */
  readonly label: string;
}

export function IconButton({
  icon: Icon,
  label,
  kind = 'quiet',
  className,
  isBusy: _isBusy,
  ...rest
}: IconButtonProps) {
  return (
    <button
      type="button"
      title={label}
      {...rest}
      aria-label={label}
      className={buttonClass(kind, classNames('w-(--control) px-0!', className))}
    >
      <Icon size={16} strokeWidth={1.5} aria-hidden />
    </button>
  );
}
