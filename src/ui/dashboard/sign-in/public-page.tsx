import { type ReactNode, useEffect } from 'react';
import { ProductSign } from '../../kit/shell/product-sign.tsx';
import { texts } from '../../texts/texts.ts';

/** Page before the sign-in: one card. */
export function PublicPage({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · ${texts.shell.product}`;
  }, [title]);
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-[400px] flex-col justify-center p-4">
      <p className="mb-4 flex items-center gap-2 font-semibold">
        <ProductSign />
        {texts.shell.product}
      </p>
      <section className="rounded-dialog border border-line bg-surface p-6">
        <h1 className="mb-4 text-title">{title}</h1>
        {children}
      </section>
    </main>
  );
}
