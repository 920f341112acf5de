import { Fragment, type ReactNode } from 'react';

/** Facts of an object: label and value. */
export const FactList = ({ rows }: { rows: readonly (readonly [label: string, value: ReactNode])[] }) => (
  <dl className="grid items-baseline grid-cols-[minmax(96px,max-content)_1fr] gap-x-6 gap-y-2">
    {rows.map(([label, value]) => (
      <Fragment key={label}>
        <dt className="text-dim">{label}</dt>
        <dd className="min-w-0 break-words">{value}</dd>
      </Fragment>
    ))}
  </dl>
);

interface FigureCardProps {
  readonly label: ReactNode;
  readonly value: string;
  readonly detail?: string | undefined;
}

/** One number with its name. */
export const FigureCard = ({ label, value, detail }: FigureCardProps) => (
  <Card>
    <p className="text-small text-dim">{label}</p>
    <p className="text-display font-semibold">{value}</p>
    {detail && <p className="text-small text-dim">{detail}</p>}
  </Card>
);

export const Card = ({ title, action, children }: { title?: string; action?: ReactNode; children: ReactNode }) => (
  <section className="rounded-card border border-line bg-surface">
    {title && (
      <header className="flex min-h-12 flex-wrap items-center justify-between gap-x-3 border-b border-line px-4 py-1">
        <h2 className="text-body">{title}</h2>
        {action}
      </header>
    )}
    <div className="p-4">{children}</div>
  </section>
);
