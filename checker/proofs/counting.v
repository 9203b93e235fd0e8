(* How many queries identify a hidden parity for sure: lemma L and Bessel's inequality, counted over a game
   (theory 2.5, in its strict form).

   The learner asks adaptively: each query may depend on the answers so far, which leave a list of sets. Any answer
   within tau of a set's mean is valid for it, so a learner that is sure must succeed whatever the answers. *)

Require Import Reals Lra Lia List Permutation Arith Bool.
Require Import lemma_l.
Import ListNotations.
Open Scope R_scope.

(* A game on any concepts C, the means of whose queries are in the set `query`. *)

Section Game.
  Variables (C : Type) (query : (C -> R) -> Prop) (tau : R).

  Definition kept (a : C -> R) (v : R) (live : list C) : list C := filter (fun U => within tau v (a U)) live.

  Inductive identifies : nat -> list C -> Prop :=
  | known q live : (length live <= 1)%nat -> identifies q live
  | ask q live a : query a -> (forall v, identifies q (kept a v live)) -> identifies (S q) live.

  Lemma kept_lost a v live : (length (kept a v live) + lost tau v (map a live) = length live)%nat.
  Proof. unfold kept. induction live as [| U live IH]; simpl; [reflexivity |]. destruct within; simpl; lia. Qed.

  (* If some answer to each query loses at most E concepts, q queries leave one of at most q E + 1. *)
  Lemma counting (good : list C -> Prop) (E : nat) :
    (forall a v live, good live -> good (kept a v live)) ->
    (forall a live, query a -> good live -> exists v, (lost tau v (map a live) <= E)%nat) ->
    forall q live, good live -> identifies q live -> (length live <= q * E + 1)%nat.
  Proof.
    intros closed few q live G I. revert G.
    induction I as [q live one | q live a Q I IH]; intros G; [lia |].
    destruct (few a live Q G) as [v Hv]. specialize (IH v (closed a v live G)).
    pose proof (kept_lost a v live). lia.
  Qed.

  (* A loss e with 8 tau^2 e < 1 is at most E = ceil(1/(8 tau^2)) - 1, the least E with 8 tau^2 (E + 1) >= 1. *)
  Lemma counting_squares (good : list C -> Prop) (E : nat) :
    0 < tau -> 1 <= 8 * tau ^ 2 * (INR E + 1) ->
    (forall a v live, good live -> good (kept a v live)) ->
    (forall a live, query a -> good live -> exists c, squares c (map a live) <= 1 / 4) ->
    forall q live, good live -> identifies q live -> (length live <= q * E + 1)%nat.
  Proof.
    intros T HE closed bounded. apply counting; auto. intros a live Q G.
    destruct (bounded a live Q G) as [c Hc]. destruct (lemma_L tau c (map a live) T Hc) as [v Hv].
    exists v. apply Nat.lt_succ_r, INR_lt. rewrite S_INR. assert (0 < tau ^ 2) by (simpl; nra). nra.
  Qed.
End Game.

(* Parities: sets of n bits as lists of Booleans, their characters on the cube, uniform means. *)

Fixpoint mean (n : nat) (f : list bool -> R) : R :=
  match n with
  | O => f []
  | S n => (mean n (fun x => f (true :: x)) + mean n (fun x => f (false :: x))) / 2
  end.

Fixpoint chi (U x : list bool) : R :=
  match U, x with
  | u :: U, b :: x => (if u && b then -1 else 1) * chi U x
  | _, _ => 1
  end.

Lemma mean_ext n f g : (forall x, f x = g x) -> mean n f = mean n g.
Proof.
  revert f g. induction n; intros f g H; simpl; [apply H |].
  rewrite (IHn _ (fun x => g (true :: x))), (IHn (fun x => f (false :: x)) (fun x => g (false :: x))); auto.
Qed.

Lemma mean_plus n f g : mean n (fun x => f x + g x) = mean n f + mean n g.
Proof. revert f g. induction n; intros; simpl; [lra |]. rewrite !IHn. lra. Qed.

Lemma mean_scal n c f : mean n (fun x => c * f x) = c * mean n f.
Proof. revert f. induction n; intros; simpl; [lra |]. rewrite !IHn. lra. Qed.

Lemma mean_le n f g : (forall x, f x <= g x) -> mean n f <= mean n g.
Proof.
  revert f g. induction n; intros f g H; simpl; [apply H |].
  pose proof (IHn (fun x => f (true :: x)) (fun x => g (true :: x)) (fun x => H _)).
  pose proof (IHn (fun x => f (false :: x)) (fun x => g (false :: x)) (fun x => H _)). lra.
Qed.

Lemma mean_const n c : mean n (fun _ => c) = c.
Proof. induction n; simpl; [reflexivity |]. rewrite IHn. lra. Qed.

Lemma norm n U : mean n (fun x => chi U x * chi U x) = 1.
Proof.
  revert U. induction n; intros U; simpl; [destruct U; simpl; lra |]. destruct U as [| u U]; simpl.
  - rewrite mean_const. lra.
  - rewrite (mean_ext _ (fun x => _ * chi U x * (_ * chi U x)) (fun x => chi U x * chi U x))
      by (intros; destruct u; simpl; lra).
    rewrite (mean_ext _ (fun x => _ * chi U x * (_ * chi U x)) (fun x => chi U x * chi U x))
      by (intros; destruct u; simpl; lra).
    rewrite IHn. lra.
Qed.

Lemma orthogonal n U T : length U = n -> length T = n -> U <> T -> mean n (fun x => chi U x * chi T x) = 0.
Proof.
  revert U T. induction n; intros [| u U] [| t T] HS HT D; try discriminate; [now destruct D |].
  simpl in HS, HT. simpl. set (e := (if u then -1 else 1) * (if t then -1 else 1)).
  rewrite (mean_ext _ (fun x => _ * chi U x * (_ * chi T x)) (fun x => e * (chi U x * chi T x)))
    by (intros; unfold e; destruct u, t; simpl; lra).
  rewrite (mean_ext n (fun x => _ * chi U x * (_ * chi T x)) (fun x => 1 * (chi U x * chi T x)))
    by (intros; destruct u, t; simpl; lra).
  rewrite !mean_scal. destruct (bool_dec u t) as [same | other].
  - rewrite IHn; [lra | lia | lia |]. intros E. apply D. now subst.
  - assert (E : e = -1) by (unfold e; destruct u, t; try lra; now destruct other). rewrite E. lra.
Qed.

(* Bessel's inequality. *)

Definition coefficient (n : nat) (b : list bool -> R) (U : list bool) : R := mean n (fun x => b x * chi U x).

Fixpoint part (n : nat) (b : list bool -> R) (L : list (list bool)) (x : list bool) : R :=
  match L with
  | [] => 0
  | U :: L => coefficient n b U * chi U x + part n b L x
  end.

Lemma part_orthogonal n b L T :
  length T = n -> Forall (fun U => length U = n) L -> ~ In T L -> mean n (fun x => part n b L x * chi T x) = 0.
Proof.
  intros HT F N. induction L as [| U L IH]; simpl.
  - rewrite (mean_ext _ _ (fun _ => 0)); [apply mean_const | intros; lra].
  - inversion F; subst.
    rewrite (mean_ext _ _ (fun x => coefficient (length T) b U * (chi U x * chi T x) + part (length T) b L x * chi T x))
      by (intros; lra).
    rewrite mean_plus, mean_scal, IH, orthogonal; auto.
    + lra.
    + intros E. apply N. now left.
    + intros I. apply N. now right.
Qed.

Lemma pythagoras n b L : NoDup L -> Forall (fun U => length U = n) L ->
  mean n (fun x => (b x - part n b L x) ^ 2) = mean n (fun x => b x ^ 2) - squares 0 (map (coefficient n b) L).
Proof.
  intros D F. induction L as [| U L IH]; simpl map; simpl squares.
  - rewrite (mean_ext _ (fun x => (b x - part n b [] x) ^ 2) (fun x => b x ^ 2)); [lra | intros; simpl; lra].
  - inversion D; inversion F; subst. set (n := length U) in *. set (a := coefficient n b U).
    rewrite (mean_ext _ _ (fun x => ((b x - part n b L x) ^ 2 + (-2 * a) * (b x * chi U x))
      + ((2 * a) * (part n b L x * chi U x) + a ^ 2 * (chi U x * chi U x)))) by (intros; simpl; unfold a; lra).
    rewrite !mean_plus, !mean_scal, IH, part_orthogonal, norm; auto.
    change (mean n (fun x => b x * chi U x)) with a. lra.
Qed.

Lemma bessel n b L : NoDup L -> Forall (fun U => length U = n) L ->
  squares 0 (map (coefficient n b) L) <= mean n (fun x => b x ^ 2).
Proof.
  intros D F. pose proof (pythagoras n b L D F) as P.
  assert (0 <= mean n (fun x => (b x - part n b L x) ^ 2)); [| lra].
  rewrite <- (mean_const n 0). apply mean_le. intros. apply pow2_ge_0.
Qed.

(* A query phi in [-1, 1] on inputs and labels has, under the set U, the mean c + <b, chi_S> with |b| <= 1/2: half of
   the inputs carry no information (theory 2.5a). *)

Definition parity_query (n : nat) (a : list bool -> R) : Prop :=
  exists b c, (forall x, Rabs (b x) <= 1 / 2) /\ (forall U, a U = c + coefficient n b U).

Theorem queries_needed (n : nat) (tau : R) (E q : nat) (sets : list (list bool)) :
  0 < tau -> 1 <= 8 * tau ^ 2 * (INR E + 1) ->
  NoDup sets -> Forall (fun U => length U = n) sets ->
  identifies (list bool) (parity_query n) tau q sets -> (length sets - 1 <= q * E)%nat.
Proof.
  intros T HE D F I.
  assert (H : (length sets <= q * E + 1)%nat); [| lia].
  apply (counting_squares _ (parity_query n) tau (fun L => NoDup L /\ Forall (fun U => length U = n) L)); auto.
  - intros a v live [D' F']. split; [now apply NoDup_filter |].
    rewrite Forall_forall in *. intros U HS. apply filter_In in HS. now apply F'.
  - intros a live [b [c [B A]]] [D' F']. exists c.
    replace (squares c (map a live)) with (squares 0 (map (coefficient n b) live)).
    + eapply Rle_trans; [now apply bessel |]. rewrite <- (mean_const n (1 / 4)). apply mean_le. intros x.
      specialize (B x). pose proof (Rabs_pos (b x)). rewrite <- pow2_abs. nra.
    + clear - A. induction live as [| U live IH]; simpl; [reflexivity |]. rewrite IH, A. f_equal. lra.
Qed.

Check counting.
Check queries_needed.
Print Assumptions queries_needed.
