(* The pairing behind theorems A and B (theory 2.7), and its value for independent parities.

   If a query loses e of 2e or more concepts, e disjoint pairs of them have means more than 2 tau apart. *)

Require Import Reals Lra Lia ZArith List Permutation Sorted Binomial Factorial Bool.
Require Import lemma_l counting.
Import ListNotations.
Open Scope R_scope.

(* Theorem B's inequality, for any parities: 2 e tau < E|sum of e plus and e minus characters|/2. *)

Fixpoint total (pairs : list (list bool * list bool)) (x : list bool) : R :=
  match pairs with
  | [] => 0
  | (U, T) :: pairs => (chi U x - chi T x) + total pairs x
  end.

Lemma half_absolute n b f : (forall x, Rabs (b x) <= 1 / 2) ->
  mean n (fun x => b x * f x) <= mean n (fun x => Rabs (f x)) / 2.
Proof.
  intros B. replace (mean n (fun x => Rabs (f x)) / 2) with (mean n (fun x => / 2 * Rabs (f x)))
    by (rewrite mean_scal; lra).
  apply mean_le. intros x. specialize (B x). pose proof (Rle_abs (b x * f x)) as A. rewrite Rabs_mult in A.
  pose proof (Rabs_pos (f x)). nra.
Qed.

Theorem pairing (n : nat) (tau : R) (a : list bool -> R) (pairs : list (list bool * list bool)) :
  parity_query n a -> pairs <> [] -> Forall (fun p => 2 * tau < a (fst p) - a (snd p)) pairs ->
  2 * INR (length pairs) * tau < mean n (fun x => Rabs (total pairs x)) / 2.
Proof.
  intros [b [c [B A]]] N F. eapply Rlt_le_trans; [| now apply half_absolute].
  assert (G : pairs = [] /\ mean n (fun x => b x * total pairs x) = 0
    \/ 2 * INR (length pairs) * tau < mean n (fun x => b x * total pairs x)); [| now destruct G as [[E _] |]].
  clear N. induction F as [| [U T] pairs H F IH].
  - left. split; [reflexivity |]. simpl. rewrite (mean_ext _ _ (fun _ => 0)); [apply mean_const | intros; lra].
  - right. simpl fst in H. simpl snd in H. rewrite !A in H. unfold coefficient in H.
    rewrite (mean_ext _ _ (fun x => (b x * chi U x + -1 * (b x * chi T x)) + b x * total pairs x))
      by (intros; simpl; lra).
    rewrite !mean_plus, mean_scal. simpl length. rewrite S_INR. destruct IH as [[E Z] | L]; [| lra].
    subst. rewrite Z. simpl. lra.
Qed.

(* A fair walk from z: V h N z = E h(z + N signs). W is its mean distance from 0, p the chance that it ends there. *)

Fixpoint V (h : Z -> R) (N : nat) (z : Z) : R :=
  match N with
  | O => h z
  | S N => (V h N (z + 1) + V h N (z - 1)) / 2
  end.

Notation W := (V (fun z => IZR (Z.abs z))).
Notation p := (V (fun z => if Z.eqb z 0 then 1 else 0)).
Notation sign := (fun z => IZR (Z.sgn z)).

Lemma one_more N z : W (S N) z = W N z + p N z.
Proof.
  revert z. induction N; intros z.
  - simpl. destruct (Z.eqb_spec z 0) as [zero | other]; [subst; simpl; lra |].
    destruct (Z_lt_le_dec z 0).
    + rewrite !Z.abs_neq, !opp_IZR, plus_IZR, minus_IZR by lia. lra.
    + rewrite !Z.abs_eq, plus_IZR, minus_IZR by lia. lra.
  - change (W (S (S N)) z) with ((W (S N) (z + 1) + W (S N) (z - 1)) / 2). rewrite !IHN.
    pose proof (IHN z) as H. simpl in H. simpl. lra.
Qed.

Lemma p_step N z : p (S N) z = (p N (z + 1) + p N (z - 1)) / 2.
Proof. reflexivity. Qed.

Lemma p_far N z : (Z.of_nat N < Z.abs z)%Z -> p N z = 0.
Proof.
  revert z. induction N; intros z H.
  - simpl. destruct (Z.eqb_spec z 0); [subst; simpl in H; lia | reflexivity].
  - simpl. rewrite !IHN by lia. lra.
Qed.

Lemma p_odd N z : Z.odd (z + Z.of_nat N) = true -> p N z = 0.
Proof.
  revert z. induction N; intros z H.
  - simpl. destruct (Z.eqb_spec z 0); [subst; discriminate | reflexivity].
  - rewrite Nat2Z.inj_succ in H. simpl. rewrite !IHN; [lra | |].
    + replace (z - 1 + Z.of_nat N)%Z with (z + Z.succ (Z.of_nat N) - 2)%Z by lia. rewrite Z.odd_sub, H. reflexivity.
    + replace (z + 1 + Z.of_nat N)%Z with (z + Z.succ (Z.of_nat N))%Z by lia. exact H.
Qed.

Lemma C_none N : C N 0 = 1.
Proof. unfold C. rewrite Nat.sub_0_r. simpl. field. apply INR_fact_neq_0. Qed.

Lemma C_all N : C N N = 1.
Proof. unfold C. rewrite Nat.sub_diag. simpl. field. apply INR_fact_neq_0. Qed.

Lemma p_binomial N k : (k <= N)%nat -> p N (2 * Z.of_nat k - Z.of_nat N) = C N k / 2 ^ N.
Proof.
  revert k. induction N; intros k H.
  - assert (k = O) by lia. subst. simpl. rewrite C_none. lra.
  - rewrite Nat2Z.inj_succ, p_step. simpl pow. assert (P : 2 ^ N <> 0) by (apply pow_nonzero; lra).
    assert (at_ : forall z j, (j <= N)%nat -> z = (2 * Z.of_nat j - Z.of_nat N)%Z -> p N z = C N j / 2 ^ N)
      by (intros; subst; now apply IHN).
    destruct k as [| k].
    + rewrite (at_ (_ + 1)%Z O), (p_far N (_ - 1)), !C_none by lia. field. exact P.
    + rewrite (at_ (_ - 1)%Z k) by lia. destruct (Nat.eq_dec k N) as [all | some].
      * subst. rewrite (p_far N (_ + 1)), !C_all by lia. field. exact P.
      * rewrite (at_ (_ + 1)%Z (S k)), <- pascal by lia. field. exact P.
Qed.

Lemma C_central e : INR (S e) * C (2 * S e) (S e) = 2 * (2 * INR e + 1) * C (2 * e) e.
Proof.
  unfold C. replace (2 * S e - S e)%nat with (S e) by lia. replace (2 * e - e)%nat with e by lia.
  replace (2 * S e)%nat with (S (S (2 * e))) by lia.
  rewrite !fact_simpl, !mult_INR, !S_INR, mult_INR. simpl (INR 2). field.
  split; [apply INR_fact_neq_0 |]. pose proof (pos_INR e). lra.
Qed.

Lemma walk e : W (2 * e) 0 = 2 * INR e * C (2 * e) e / 4 ^ e.
Proof.
  induction e.
  - simpl. lra.
  - replace (2 * S e)%nat with (S (S (2 * e))) at 1 by lia. rewrite !one_more, IHe.
    rewrite (p_odd (S (2 * e)))
      by (rewrite Nat2Z.inj_succ, Nat2Z.inj_mul, Z.add_0_l, Z.odd_succ, Z.even_mul; reflexivity).
    pose proof (p_binomial (2 * e) e) as P. replace (2 * Z.of_nat e - Z.of_nat (2 * e))%Z with 0%Z in P by lia.
    rewrite P, pow_mult by lia. replace (2 ^ 2) with 4 by lra. simpl pow.
    replace (2 * INR (S e) * C (2 * S e) (S e)) with (2 * (INR (S e) * C (2 * S e) (S e))) by lra.
    rewrite C_central. field. apply pow_nonzero. lra.
Qed.

(* Independent parities are, up to an affine map, the coordinates of the cube: a query's means on them are
   E[b x_i] + c. The signs of e pairs are 1 and -1, those of all others 0. *)

Fixpoint form (signs : list Z) (x : list bool) : Z :=
  match signs, x with
  | s :: signs, b :: x => ((if b then - s else s) + form signs x)%Z
  | _, _ => 0%Z
  end.

Fixpoint chosen (signs : list Z) : nat :=
  match signs with
  | [] => O
  | s :: signs => ((if Z.eqb s 0 then 0 else 1) + chosen signs)%nat
  end.

Lemma mean_form h signs z : Forall (fun s => s = -1 \/ s = 0 \/ s = 1)%Z signs ->
  mean (length signs) (fun x => h (z + form signs x)%Z) = V h (chosen signs) z.
Proof.
  intros F. revert z. induction F as [| s signs H F IH]; intros z; simpl; [now rewrite Z.add_0_r |].
  assert (M : forall t, mean (length signs) (fun x => h (z + (t + form signs x))%Z) = V h (chosen signs) (z + t)).
  { intros t. rewrite <- IH. apply mean_ext. intros x. now rewrite Z.add_assoc. }
  rewrite !M. destruct H as [-> | [-> | ->]]; simpl.
  - replace (z - 1)%Z with (z + -1)%Z by lia. lra.
  - rewrite !Z.add_0_r. lra.
  - replace (z - 1)%Z with (z + -1)%Z by lia. lra.
Qed.

Theorem theorem_A_upper (signs : list Z) (b : list bool -> R) (tau : R) (e : nat) :
  Forall (fun s => s = -1 \/ s = 0 \/ s = 1)%Z signs -> chosen signs = (2 * e)%nat -> (0 < e)%nat ->
  (forall x, Rabs (b x) <= 1 / 2) ->
  2 * INR e * tau < mean (length signs) (fun x => b x * IZR (form signs x)) ->
  tau < C (2 * e) e / 2 ^ (2 * e + 1).
Proof.
  intros F N E B G. pose proof (half_absolute (length signs) b (fun x => IZR (form signs x)) B) as H.
  rewrite (mean_ext _ (fun x => Rabs (IZR (form signs x))) (fun x => IZR (Z.abs (0 + form signs x)))) in H
    by (intros; now rewrite Z.add_0_l, abs_IZR).
  rewrite (mean_form (fun z => IZR (Z.abs z)) signs 0 F), N, walk in H.
  assert (P : 0 < INR e) by (now apply lt_0_INR).
  rewrite pow_add, pow_mult. replace (2 ^ 2) with 4 by lra. rewrite pow_1.
  assert (Q : 0 < 4 ^ e) by (apply pow_lt; lra).
  apply Rmult_lt_reg_l with (2 * INR e); [lra |].
  replace (2 * INR e * (C (2 * e) e / (4 ^ e * 2))) with (2 * INR e * C (2 * e) e / 4 ^ e / 2); [lra |].
  field. lra.
Qed.

(* The query that attains it: half the sign of the sum. Its mean is T_ind(e) on the plus sets, -T_ind(e) on the minus
   sets and 0 on all others, so for tau < T_ind(e) no answer keeps a plus set and a minus set. *)

Definition coordinate (i : nat) (x : list bool) : R := if nth i x false then -1 else 1.

Lemma sign_step N z : V sign N (z + 1) - V sign N (z - 1) = p N (z + 1) + p N (z - 1) + 2 * p N z.
Proof.
  revert z. induction N; intros z.
  - simpl. destruct (Z_le_gt_dec z (-2)); [| destruct (Z_le_gt_dec 2 z)].
    + rewrite !(proj2 (Z.eqb_neq _ 0)), !Z.sgn_neg by lia. lra.
    + rewrite !(proj2 (Z.eqb_neq _ 0)), !Z.sgn_pos by lia. lra.
    + assert (T : (z = -1 \/ z = 0 \/ z = 1)%Z) by lia. destruct T as [-> | [-> | ->]]; simpl; lra.
  - pose proof (IHN (z + 1)%Z) as A. pose proof (IHN (z - 1)%Z) as B. simpl.
    replace (z + 1 - 1)%Z with z in * by lia. replace (z - 1 + 1)%Z with z in * by lia. lra.
Qed.

Lemma mean_sign signs i z : Forall (fun s => s = -1 \/ s = 0 \/ s = 1)%Z signs -> (i < length signs)%nat ->
  match nth i signs 0%Z with
  | Z0 => mean (length signs) (fun x => sign (z + form signs x)%Z * coordinate i x) = 0
  | s => exists M, chosen signs = S M /\
      mean (length signs) (fun x => sign (z + form signs x)%Z * coordinate i x)
      = IZR s * ((V sign M (z + 1) - V sign M (z - 1)) / 2)
  end.
Proof.
  intros F. revert i z. induction F as [| t signs H F IH]; intros i z L; [simpl in L; lia |].
  assert (M : forall u, mean (length signs) (fun x => sign (z + (u + form signs x))%Z) = V sign (chosen signs) (z + u)).
  { intros u. rewrite <- (mean_form sign) by exact F. apply mean_ext. intros x. now rewrite Z.add_assoc. }
  destruct i as [| i].
  - simpl nth. simpl length. simpl mean. unfold coordinate. simpl nth.
    assert (G : forall u c, mean (length signs) (fun x => sign (z + (u + form signs x))%Z * c)
      = c * V sign (chosen signs) (z + u)).
    { intros u c. rewrite <- M, <- mean_scal. apply mean_ext. intros x. lra. }
    rewrite !G. destruct H as [-> | [-> | ->]]; simpl chosen.
    + exists (chosen signs). split; [reflexivity |].
      replace (z - 1)%Z with (z + -1)%Z by lia. change (- (-1))%Z with 1%Z. lra.
    + change (- 0)%Z with 0%Z. lra.
    + exists (chosen signs). split; [reflexivity |].
      replace (z - 1)%Z with (z + -1)%Z by lia. change (- (1))%Z with (-1)%Z. lra.
  - simpl in L. assert (L' : (i < length signs)%nat) by lia. simpl nth. simpl length. simpl mean.
    assert (G : forall b u, mean (length signs) (fun x => sign (z + (u + form signs x))%Z * coordinate (S i) (b :: x))
      = mean (length signs) (fun x => sign (z + u + form signs x)%Z * coordinate i x)).
    { intros b u. apply mean_ext. intros x. now rewrite Z.add_assoc. }
    rewrite !G. pose proof (IH i (z + - t)%Z L') as A. pose proof (IH i (z + t)%Z L') as B.
    destruct (nth i signs 0%Z) as [| q | q]; [rewrite A, B; lra | |];
      destruct A as [M1 [N1 A]], B as [M2 [N2 B]]; rewrite A, B; assert (M2 = M1) by congruence; subst M2;
      destruct H as [-> | [-> | ->]]; simpl chosen; rewrite N1.
    all: try (exists M1; split; [reflexivity |]; change (- 0)%Z with 0%Z; rewrite Z.add_0_r; lra).
    all: exists (S M1); split; [reflexivity |]; simpl V; change (- (1))%Z with (-1)%Z; change (- (-1))%Z with 1%Z.
    all: replace (z + -1 + 1)%Z with (z + 1 - 1)%Z by lia; replace (z + -1 - 1)%Z with (z - 1 - 1)%Z by lia.
    all: replace (z - 1 + 1)%Z with (z + 1 - 1)%Z by lia; lra.
Qed.

Theorem theorem_A_lower (signs : list Z) (e i : nat) :
  Forall (fun s => s = -1 \/ s = 0 \/ s = 1)%Z signs -> chosen signs = (2 * e)%nat -> (i < length signs)%nat ->
  (forall x, Rabs (sign (form signs x) / 2) <= 1 / 2) /\
  mean (length signs) (fun x => sign (form signs x) / 2 * coordinate i x)
  = IZR (nth i signs 0%Z) * (C (2 * e) e / 2 ^ (2 * e + 1)).
Proof.
  intros F N L. split.
  - intros x. cbv beta. destruct (Z.sgn_spec (form signs x)) as [[_ ->] | [[_ ->] | [_ ->]]]; apply Rabs_le;
      change (- (1))%Z with (-1)%Z; lra.
  - rewrite (mean_ext _ _ (fun x => / 2 * (sign (0 + form signs x)%Z * coordinate i x))) by (intros; simpl; lra).
    rewrite mean_scal. pose proof (mean_sign signs i 0%Z F L) as H.
    assert (K : forall M, chosen signs = S M -> (V sign M (0 + 1) - V sign M (0 - 1)) / 2 = C (2 * e) e / 4 ^ e).
    { intros M E. rewrite sign_step. pose proof (p_step M 0) as P. rewrite <- E, N in P.
      pose proof (p_binomial (2 * e) e) as B. replace (2 * Z.of_nat e - Z.of_nat (2 * e))%Z with 0%Z in B by lia.
      rewrite B, pow_mult in P by lia. replace (2 ^ 2) with 4 in P by lra.
      assert (O : p M 0 = 0).
      { apply p_odd. replace (0 + Z.of_nat M)%Z with (2 * (Z.of_nat e - 1) + 1)%Z by lia.
        rewrite Z.odd_add, Z.odd_mul. reflexivity. }
      lra. }
    rewrite pow_add, pow_mult. replace (2 ^ 2) with 4 by lra. rewrite pow_1.
    assert (Q : 4 ^ e <> 0) by (apply pow_nonzero; lra).
    destruct (nth i signs 0%Z) as [| q | q]; [rewrite H; lra | |];
      destruct H as [M [E H]]; rewrite H, (K M E); field; exact Q.
Qed.

Lemma no_answer_keeps_both (T tau v : R) : tau < T -> within tau v T && within tau v (- T) = false.
Proof.
  intros H. unfold within. destruct (Rle_dec (Rabs (T - v)) tau) as [a | a]; [| reflexivity].
  destruct (Rle_dec (Rabs (- T - v)) tau) as [b | b]; [| reflexivity]. exfalso.
  pose proof (Rle_abs (T - v)). pose proof (Rle_abs (- (- T - v))). rewrite Rabs_Ropp in *. lra.
Qed.

(* Theorem A's upper half as a statement on a query: if every answer loses e of n >= 2e independent parities, then
   tau < T_ind(e). The e largest means and the e smallest are the pairs. *)

Fixpoint over (l : list nat) (f : nat -> R) : R :=
  match l with
  | [] => 0
  | i :: l => f i + over l f
  end.

Lemma over_permutation l l' f : Permutation l l' -> over l f = over l' f.
Proof. induction 1; simpl; lra. Qed.

Lemma over_app l l' f : over (l ++ l') f = over l f + over l' f.
Proof. induction l; simpl; lra. Qed.

Lemma over_ext l f g : (forall i, In i l -> f i = g i) -> over l f = over l g.
Proof. induction l; intros H; simpl; [reflexivity |]. rewrite H, IHl; simpl; auto. intros. apply H. now right. Qed.

Lemma over_scal l r f : over l (fun i => r * f i) = r * over l f.
Proof. induction l; simpl; lra. Qed.

Lemma over_shift l f : over (map S l) f = over l (fun i => f (S i)).
Proof. induction l; simpl; lra. Qed.

Lemma over_sum l f : over l f = sum (length l) (fun j => f (nth j l 0%nat)).
Proof. induction l as [| i l IH]; [reflexivity |]. simpl length. rewrite sum_first. simpl. now rewrite IH. Qed.

Lemma mean_ext_length n f g : (forall x, length x = n -> f x = g x) -> mean n f = mean n g.
Proof.
  revert f g. induction n; intros f g H; simpl; [now apply H |].
  rewrite (IHn _ (fun x => g (true :: x))), (IHn (fun x => f (false :: x)) (fun x => g (false :: x)));
    auto; intros; apply H; simpl; auto.
Qed.

Lemma form_over s m k x : length x = m ->
  IZR (form (map s (seq k m)) x) = over (seq 0 m) (fun i => IZR (s (k + i)%nat) * coordinate i x).
Proof.
  revert k x. induction m; intros k [| b x] H; try discriminate; [reflexivity |].
  simpl. rewrite plus_IZR, (IHm (S k) x) by (simpl in H; lia). rewrite <- seq_shift, over_shift.
  replace (k + 0)%nat with k by lia. f_equal.
  - unfold coordinate. simpl. destruct b; [rewrite opp_IZR |]; lra.
  - apply over_ext. intros i _. unfold coordinate. simpl. now rewrite Nat.add_succ_r.
Qed.

Lemma mean_over n b l f : mean n (fun x => b x * over l (fun i => f i * coordinate i x))
  = over l (fun i => f i * mean n (fun x => b x * coordinate i x)).
Proof.
  induction l as [| i l IH]; simpl.
  - rewrite (mean_ext _ _ (fun _ => 0)); [apply mean_const | intros; lra].
  - rewrite <- IH, <- mean_scal, <- mean_plus. apply mean_ext. intros x. lra.
Qed.

Lemma chosen_over s m k : INR (chosen (map s (seq k m))) = over (seq k m) (fun i => if Z.eqb (s i) 0 then 0 else 1).
Proof. revert k. induction m; intros k; [reflexivity |]. simpl. rewrite plus_INR, IHm. destruct Z.eqb; simpl; lra. Qed.

Lemma apart (l l' : list nat) : NoDup (l ++ l') -> forall i, In i l -> ~ In i l'.
Proof.
  induction l as [| h l IH]; intros D i I; [destruct I |]. simpl in D. inversion D; subst.
  destruct I as [-> | I]; [| now apply IH]. intros T. apply H1, in_or_app. now right.
Qed.

Theorem theorem_A_query (n e : nat) (b : list bool -> R) (c tau : R) :
  (forall x, Rabs (b x) <= 1 / 2) -> (0 < e)%nat -> (2 * e <= n)%nat ->
  (forall v, (e <= lost tau v (map (fun i => (c + mean n (fun x => b x * coordinate i x))%R) (seq 0 n)))%nat) ->
  tau < C (2 * e) e / 2 ^ (2 * e + 1).
Proof.
  intros B E N Lost. set (m := fun i => mean n (fun x => b x * coordinate i x)). set (a := fun i => c + m i).
  change (forall v, (e <= lost tau v (map a (seq 0 n)))%nat) in Lost.
  destruct (sorting nat a (seq 0 n)) as [l [P St]]. apply sorted_keys in St.
  assert (Ln : length l = n) by (rewrite <- (Permutation_length P); apply seq_length).
  assert (D : NoDup l) by (apply (Permutation_NoDup P), seq_NoDup).
  set (bottom := firstn e l). set (rest := skipn e l). set (middle := firstn (n - 2 * e) rest).
  set (top := skipn (n - 2 * e) rest).
  assert (Split : l = bottom ++ middle ++ top).
  { unfold middle, top. rewrite firstn_skipn. unfold bottom, rest. now rewrite firstn_skipn. }
  assert (Lb : length bottom = e) by (unfold bottom; rewrite firstn_length; lia).
  assert (Lr : length rest = (n - e)%nat) by (unfold rest; rewrite skipn_length; lia).
  assert (Lm : length middle = (n - 2 * e)%nat) by (unfold middle; rewrite firstn_length; lia).
  assert (Lt : length top = e) by (unfold top; rewrite skipn_length; lia).
  clearbody bottom middle top. clear rest Lr. subst l.
  assert (Gap : forall j, (j < e)%nat -> 2 * tau < a (nth j top 0%nat) - a (nth j bottom 0%nat)).
  { intros j Hj. apply Rnot_le_lt. intros Small.
    assert (K : forall i, (i < n)%nat -> nth i (map a (bottom ++ middle ++ top)) 0
      = a (nth i (bottom ++ middle ++ top) 0%nat)).
    { intros i Hi. rewrite (nth_indep _ 0 (a 0%nat)) by (rewrite map_length; lia). apply map_nth. }
    pose proof (window_keeps tau (map a (bottom ++ middle ++ top)) (n - e + 1) j St) as W.
    rewrite map_length, Ln in W. rewrite !K in W by lia.
    rewrite (app_nth1 bottom) with (n := j) in W by lia.
    rewrite app_nth2, app_nth2 in W by lia. rewrite Lb, Lm in W.
    replace (j + (n - e + 1) - 1 - e - (n - 2 * e))%nat with j in W by lia.
    specialize (W ltac:(lia) ltac:(lia) Small). specialize (Lost (a (nth j bottom 0%nat) + tau)).
    rewrite (lost_permutation _ _ _ _ (Permutation_map a P)) in Lost. lia. }
  set (s := fun i => if in_dec Nat.eq_dec i top then 1%Z else if in_dec Nat.eq_dec i bottom then (-1)%Z else 0%Z).
  assert (St' : forall i, In i top -> s i = 1%Z) by (intros i I; unfold s; destruct in_dec; [auto | contradiction]).
  assert (Apart : forall i, In i (bottom ++ middle) -> ~ In i top)
    by (rewrite app_assoc in D; intros; now apply (apart _ _ D)).
  assert (Sb : forall i, In i bottom -> s i = (-1)%Z).
  { intros i I. unfold s. destruct in_dec as [T | _]; [exfalso; revert T; apply Apart, in_or_app; now left |].
    destruct in_dec; [reflexivity | contradiction]. }
  assert (Sm : forall i, In i middle -> s i = 0%Z).
  { intros i I. unfold s. destruct in_dec as [T | _]; [exfalso; revert T; apply Apart, in_or_app; now right |].
    destruct in_dec as [T | _]; [exfalso | reflexivity]. apply (apart _ _ D i T), in_or_app. now left. }
  (* A sum over all parities, weighted by the signs, is the sum over the pairs. *)
  assert (Pairs : forall f, over (seq 0 n) (fun i => IZR (s i) * f i)
    = sum e (fun j => f (nth j top 0%nat) - f (nth j bottom 0%nat))).
  { intros f. rewrite (over_permutation _ _ _ P), !over_app.
    rewrite (over_ext bottom _ (fun i => -1 * f i)) by (intros i I; now rewrite Sb).
    rewrite (over_ext middle _ (fun i => 0 * f i)) by (intros i I; now rewrite Sm).
    rewrite (over_ext top _ (fun i => 1 * f i)) by (intros i I; now rewrite St').
    rewrite !over_scal, (over_sum top), (over_sum bottom), Lt, Lb.
    rewrite (sum_ext e (fun j => f (nth j top 0%nat) - f (nth j bottom 0%nat))
      (fun j => f (nth j top 0%nat) + -1 * f (nth j bottom 0%nat))) by (intros; lra).
    rewrite sum_plus, sum_scal. lra. }
  apply (theorem_A_upper (map s (seq 0 n)) b tau e); auto.
  - apply Forall_map, Forall_forall. intros i _. unfold s. destruct in_dec; [auto |]. destruct in_dec; auto.
  - apply INR_eq. rewrite chosen_over, (over_permutation _ _ _ P), !over_app.
    rewrite (over_ext bottom _ (fun _ => 1)) by (intros i I; now rewrite Sb).
    rewrite (over_ext middle _ (fun _ => 0)) by (intros i I; now rewrite Sm).
    rewrite (over_ext top _ (fun _ => 1)) by (intros i I; now rewrite St').
    rewrite !over_sum, !sum_const, Lt, Lb, mult_INR. simpl (INR 2). lra.
  - rewrite map_length, seq_length.
    rewrite (mean_ext_length n _ (fun x => b x * over (seq 0 n) (fun i => IZR (s i) * coordinate i x)))
      by (intros x L; now rewrite (form_over s n 0 x L)).
    rewrite mean_over. fold m. rewrite Pairs.
    replace (2 * INR e * tau) with (sum e (fun _ => 2 * tau)) by (rewrite sum_const; lra).
    apply sum_lt; auto. intros j Hj. specialize (Gap j Hj). unfold a, m in Gap. cbv beta in *. lra.
Qed.

(* The "if" half as a statement on a query, and both halves: for n >= 2e > 0 independent parities some query loses e of
   them to every answer exactly if tau < T_ind(e). The query drives e parities up, e down and leaves the rest at 0. *)

Lemma map_repeat A B (f : A -> B) a k : map f (repeat a k) = repeat (f a) k.
Proof. induction k; simpl; [reflexivity |]. now rewrite IHk. Qed.

Lemma lost_app tau v l l' : lost tau v (l ++ l') = (lost tau v l + lost tau v l')%nat.
Proof. induction l as [| x l IH]; simpl; [reflexivity |]. rewrite IH. lia. Qed.

Lemma lost_all tau v x e : within tau v x = false -> lost tau v (repeat x e) = e.
Proof. intros W. induction e; simpl; [reflexivity |]. rewrite IHe, W. reflexivity. Qed.

Definition half_and_half (e r : nat) : list Z := repeat 1%Z e ++ repeat (-1)%Z e ++ repeat 0%Z r.

Lemma chosen_app l l' : chosen (l ++ l') = (chosen l + chosen l')%nat.
Proof. induction l as [| s l IH]; simpl; [reflexivity |]. rewrite IH. destruct Z.eqb; simpl; lia. Qed.

Lemma chosen_repeat s k : chosen (repeat s k) = if Z.eqb s 0 then O else k.
Proof. induction k; simpl; [now destruct Z.eqb |]. rewrite IHk. now destruct Z.eqb. Qed.

Theorem theorem_A_assembly (e r : nat) (tau v : R) :
  tau < C (2 * e) e / 2 ^ (2 * e + 1) ->
  (e <= lost tau v (map (fun i => mean (2 * e + r) (fun x => (sign (form (half_and_half e r) x) / 2 * coordinate i x)%R))
                        (seq 0 (2 * e + r))))%nat.
Proof.
  intros T. set (signs := half_and_half e r). set (level := C (2 * e) e / 2 ^ (2 * e + 1)) in *.
  assert (L : length signs = (2 * e + r)%nat) by (unfold signs, half_and_half; rewrite !app_length, !repeat_length; lia).
  assert (F : Forall (fun s => s = -1 \/ s = 0 \/ s = 1)%Z signs).
  { apply Forall_forall. intros s I. unfold signs, half_and_half in I.
    apply in_app_or in I. destruct I as [I | I]; [| apply in_app_or in I; destruct I as [I | I]];
      apply repeat_spec in I; auto. }
  assert (N : chosen signs = (2 * e)%nat)
    by (unfold signs, half_and_half; rewrite !chosen_app, !chosen_repeat; simpl; lia).
  rewrite (map_ext_in _ (fun i => IZR (nth i signs 0%Z) * level)).
  2: { intros i I. apply in_seq in I. rewrite <- L. apply theorem_A_lower; auto. lia. }
  replace (map (fun i => IZR (nth i signs 0%Z) * level) (seq 0 (2 * e + r)))
    with (map (fun s => IZR s * level) signs).
  2: { rewrite <- L. clear. induction signs as [| s signs IH]; [reflexivity |]. simpl. f_equal.
       rewrite <- seq_shift, map_map. exact IH. }
  unfold signs, half_and_half. rewrite !map_app, !map_repeat, !lost_app.
  pose proof (no_answer_keeps_both level tau v T) as B. apply andb_false_iff in B. destruct B as [B | B].
  - rewrite (lost_all _ _ (1 * level)) by (now rewrite Rmult_1_l). lia.
  - rewrite (lost_all _ _ (-1 * level)); [lia |]. now replace (-1 * level) with (- level) by lra.
Qed.

Theorem theorem_A (n e : nat) (tau : R) : (0 < e)%nat -> (2 * e <= n)%nat ->
  (exists b, (forall x, Rabs (b x) <= 1 / 2) /\
     forall v, (e <= lost tau v (map (fun i => mean n (fun x => (b x * coordinate i x)%R)) (seq 0 n)))%nat)
  <-> tau < C (2 * e) e / 2 ^ (2 * e + 1).
Proof.
  intros E N. split.
  - intros [b [B Lost]]. apply (theorem_A_query n e b 0 tau B E N). intros v. specialize (Lost v).
    now rewrite (map_ext _ (fun i => mean n (fun x => b x * coordinate i x))) by (intros; lra).
  - intros T. exists (fun x => sign (form (half_and_half e (n - 2 * e)) x) / 2). split.
    + intros x. cbv beta. destruct (Z.sgn_spec (form (half_and_half e (n - 2 * e)) x)) as [[_ ->] | [[_ ->] | [_ ->]]];
        apply Rabs_le; change (- (1))%Z with (-1)%Z; lra.
    + intros v. pose proof (theorem_A_assembly e (n - 2 * e) tau v T) as A.
      now replace (2 * e + (n - 2 * e))%nat with n in A by lia.
Qed.

Check pairing.
Check theorem_A_upper.
Check theorem_A_lower.
Check no_answer_keeps_both.
Check theorem_A_query.
Check theorem_A_assembly.
Check theorem_A.
Print Assumptions theorem_A_upper.
Print Assumptions theorem_A_lower.
Print Assumptions theorem_A_query.
Print Assumptions theorem_A.
